// call_codegen_functions.cpp: calls a library for functions that another compiler's partitioning has set apart for it.
//
// The problem: modules that TVM prints after FuseOpsByPattern and MergeCompositeFunctions have functions with an
// attribute Codegen ("dnnl"), which call functions with an attribute Composite ("dnnl.conv2d_relu"). Each stands for a
// call of the library, which RunCodegen would make.
//
// The method: a row of the external patterns (graph/external/pattern_file.h) with the name of a Composite function, or
// of a Codegen function itself, makes the call. A row with parameters replaces the call of the function. A row with a
// pattern says where its operands are in the function's body, so the body is inlined into the caller, where
// match_external_patterns finds it. A Codegen function is inlined as well, since constants are known only in its
// caller. A function without a row stays an ordinary function, and a remark says so. None of these functions is an
// entry of the object.
//
// Rejected: matching a row's pattern inside of the function, where weights are parameters instead of constants.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/relax/callable.h"
#include "compiler/relax/copy.h"
#include "compiler/relax/effects.h"
#include "compiler/transform/graph/external/external_call.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// Returns a text attribute of a function; empty if there is none.
std::string label_of(const Function& function, const char* attribute) {
  auto found = function.attrs.find(attribute);
  const auto* text = found == function.attrs.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? "" : *text;
}

bool is_set_apart(const Function& function) {
  return !label_of(function, "Composite").empty() || !label_of(function, "Codegen").empty();
}

/// Returns the values in `function` that are the results of `call`; empty if they cannot be determined.
std::vector<Value*> results_like(const Function& function, const Op& call) {
  std::vector<Value*> results = function.body().results();
  if (results.size() == 1 && call.results.size() != 1) {
    const Op* tuple = results[0]->op;
    if (tuple == nullptr || tuple->kind != OpKind::kTuple) return {};
    results = tuple->operands();
  }
  return results.size() == call.results.size() ? results : std::vector<Value*>();
}

/// Returns whether the body can replace the call: ops with effects could not keep their order.
bool can_inline(const Function& function, const Op& call) {
  if (!call.binds.empty() || call.operands().size() != function.body().arguments.size()) return false;
  for (const Op* op : ops_of(function.body(), true))
    if (has_effect(*op) || !op->binds.empty() || op->kind == OpKind::kMatchCast || op->callee == function.name)
      return false;
  return !results_like(function, call).empty();
}

void inline_call(const Function& callee, Op& call, Function& function) {
  Block* block = call.block;
  const size_t before = block->ops.size();
  Copy copy(function, block);
  const std::vector<Value*>& parameters = callee.body().arguments;
  for (size_t i = 0; i < parameters.size(); ++i) {
    copy.values[parameters[i]] = call.operand(i);
    solve_symbols(parameters[i]->info, call.operand(i)->info, copy.symbols);
  }
  for (const Op* op : ops_of(callee.body())) copy.op(*op);
  const auto made = block->ops.begin() + static_cast<std::ptrdiff_t>(before);
  std::rotate(std::find(block->ops.begin(), block->ops.end(), &call), made, block->ops.end());
  const std::vector<Value*> results = results_like(callee, call);
  for (size_t i = 0; i < results.size(); ++i) call.results[i]->replace_all_uses_with(copy.of(results[i]));
  erase_ops(function.body(), [&](const Op* op) { return op == &call; });
}

class CodegenCalls {
 public:
  CodegenCalls(Module& module, PassContext& context) : module_(module), context_(context) {}

  Changed run(Function& function) {
    Changed changed = Changed::kNo;
    bool again = true;
    for (size_t depth = 0; again && depth < kDeepest; ++depth) {  // a body that was inlined may contain calls
      again = false;
      for (Op* op : ops_of(function.body(), true)) again |= call(function, *op);
      if (again) changed = Changed::kYes;
    }
    return changed;
  }

 private:
  static constexpr size_t kDeepest = 16;

  bool call(Function& function, Op& op) {
    if (op.kind != OpKind::kCallFunction) return false;
    Function* callee = module_.find_function(op.callee);
    if (!is_set_apart(*callee)) return false;
    callee->is_private = true;
    const std::string label = label_of(*callee, "Composite");
    const ExternalPattern* row = row_of(label.empty() ? callee->name : label);
    if (row != nullptr && !row->pattern) return call_row(*row, *callee, function, op);
    const bool wanted = row != nullptr || (label.empty() && context_.external_patterns != nullptr);
    if (wanted && can_inline(*callee, op)) return inline_call(*callee, op, function), true;
    const std::string codegen = label.empty() ? label_of(*callee, "Codegen") : label;
    if (row == nullptr) remark(fmt::format("no external pattern is named '{}'; relaxc compiles it itself", codegen));
    return false;
  }

  const ExternalPattern* row_of(const std::string& name) const {
    if (context_.external_patterns == nullptr) return nullptr;
    const std::vector<ExternalPattern>& rows = context_.external_patterns->rows;
    auto found = std::find_if(rows.begin(), rows.end(), [&](const ExternalPattern& row) { return row.name == name; });
    return found == rows.end() ? nullptr : &*found;
  }

  bool call_row(const ExternalPattern& row, const Function& callee, Function& function, Op& op) {
    const size_t given = op.operands().size();
    std::string why;
    if (given != row.parameters.size())
      why = fmt::format("the function has {} parameters, and the pattern {}", given, row.parameters.size());
    else if (op.results.size() != 1 || op.result()->info->as<TensorInfo>() == nullptr || !op.binds.empty())
      why = "the function does not give one tensor of a shape that its operands decide";
    PatternMatch match;
    for (size_t i = 0; i < given && why.empty(); ++i) {
      if (op.operand(i)->info->as<TensorInfo>() == nullptr)
        why = fmt::format("parameter '{}' is no tensor", row.parameters[i]);
      match.values[row.parameters[i]] = op.operand(i);
    }
    if (why.empty()) {
      auto planned = plan_external_call(row, match, *op.result(), function.facts);
      if (const auto* plan = std::get_if<ExternalCallPlan>(&planned)) return replace(row, *plan, op), true;
      why = std::get<std::string>(planned);
    }
    remark(fmt::format("the external pattern '{}' does not fit a call of '{}', and relaxc compiles that: {}", row.name,
                       callee.name, why));
    return false;
  }

  void replace(const ExternalPattern& row, const ExternalCallPlan& plan, Op& op) {
    GraphBuilder builder(module_, context_.ops, &op, context_.diag);
    builder.location = op.location;
    MadeCall made = make_external_call(row, plan, *op.result(), builder);
    made.call->requirements = op.requirements;
    op.result()->replace_all_uses_with(made.result);
    erase_ops(builder.function().body(), [&](const Op* other) { return other == &op; });
  }

  void remark(const std::string& text) {
    if (context_.remark && said_.insert(text).second) context_.remark(text);
  }

  Module& module_;
  PassContext& context_;
  std::set<std::string> said_;
};

}  // namespace

Result<Changed> call_codegen_functions(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  CodegenCalls calls(module, context);
  std::vector<Function*> waiting;
  for (Function* function : module.functions())
    if (!is_set_apart(*function)) waiting.push_back(function);
  // Functions that are set apart follow if they are still called; the others need no remark.
  std::set<const Function*> seen(waiting.begin(), waiting.end());
  while (!waiting.empty()) {
    Function* function = waiting.back();
    waiting.pop_back();
    changed |= calls.run(*function);
    for (const Op* op : ops_of(function->body(), true))
      if (Function* callee = module.find_function(op->callee); callee != nullptr && seen.insert(callee).second)
        waiting.push_back(callee);
  }
  return changed;
}

}  // namespace relaxc
