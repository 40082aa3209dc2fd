// verify.cpp: checks the rules of the graph one after the other, in an order in which each check may rely on those
// before.
//
// Links first (use-lists, owners), then scopes (definitions before uses, symbols bound before use), then semantics
// (purity, callees, regions). It stops at the first fault, which is a bug of the pass that ran last.
#include "compiler/relax/verify.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/arith/visit.h"
#include "compiler/relax/effects.h"
#include "compiler/relax/op_def.h"
#include "compiler/tir/verify.h"

namespace relaxc::relax {
namespace {

class Verifier {
 public:
  Verifier(const Module& module, const Function& function, const Effects& effects)
      : module_(module), function_(function), effects_(effects) {}

  std::string run() {
    for (Var symbol : function_.symbols) symbols_.insert(symbol.node());
    region(function_.body());
    return fault_.empty() ? std::string() : "function '" + function_.name + "': " + fault_;
  }

 private:
  /// Records the first fault. The location is looked up only here, since that takes a walk over the source.
  void fail(const std::string& text) {
    if (fault_.empty()) fault_ = at_ == nullptr ? text : text + ", at " + short_name(at_->location);
  }
  void check(bool holds, const std::string& text) {
    if (!holds) fail(text);
  }
  static std::string describe(const Op& op) {
    std::string what = op.kind == OpKind::kOperator && op.def != nullptr ? "R." + std::string(op.def->name.text())
                       : !op.callee.empty()                              ? "call of '" + op.callee + "'"
                                                                         : kind_name(op.kind);
    std::string value = op.results.empty() || op.results[0]->name.empty() ? "" : " '" + op.results[0]->name + "'";
    return what + value;
  }
  static std::string kind_name(OpKind kind) {
    static constexpr const char* kNames[] = {
#define X(name) #name,
        RELAXC_OP_KINDS(X)
#undef X
    };
    return kNames[static_cast<size_t>(kind)];
  }

  void region(const Region& region) {
    for (const Value* argument : region.arguments) {
      check(argument->region == &region && argument->op == nullptr, "an argument belongs to another region");
      value(*argument);
    }
    for (const Block* block : region.blocks) {
      check(block->parent == &region, "a block belongs to another region");
      for (const Op* item : block->ops) {
        if (!fault_.empty()) return;
        check(item->block == block, "an op is in a block that is not its own: " + describe(*item));
        op(*item, *block);
      }
    }
    check(region.yield != nullptr && region.yield->is_yield, "a region without a yield");
    if (fault_.empty()) operands(*region.yield, "the result of a region");
  }

  /// Checks a value's struct info and uses, and brings it into scope.
  void value(const Value& value) {
    check(value.info != nullptr, "the value '" + value.name + "' has no struct info");
    if (value.info != nullptr) symbols_of_info(value.info, "'" + value.name + "'");
    std::set<std::pair<uint32_t, uint32_t>> distinct;
    for (const Use& use : value.uses()) {
      bool known = use.user != nullptr && use.user->operand(use.index) == &value;
      check(known, "a use of '" + value.name + "' that its user does not know");
      if (known && !distinct.emplace(use.user->id, use.index).second)
        fail("one use of '" + value.name + "' is counted twice");
    }
    values_.emplace(&value, value.uses().size());
  }

  void symbols_of_info(Info info, const std::string& where) {
    for (Var var : symbols_of(info))
      check(symbols_.count(var.node()) != 0, "the symbol '" + var.name() + "' in " + where + " has no value yet");
  }

  void operands(const Op& op, const std::string& what) {
    for (size_t i = 0; i < op.operands().size(); ++i) {
      const Value* operand = op.operand(i);
      if (operand == nullptr) continue;
      auto value = values_.find(operand);
      check(value != values_.end(), what + " uses '" + operand->name + "' where it does not exist");
      if (!fault_.empty()) return;
      // Uses are known to be right and distinct, so comparing their number suffices to find a missing one.
      check(value->second-- > 0, what + " is missing in the uses of '" + operand->name + "'");
    }
  }

  void op(const Op& op, const Block& block) {
    std::string what = describe(op);
    at_ = &op;
    operands(op, what);
    if (!fault_.empty()) return;
    purity(op, block, what);
    for (Var var : op.binds) symbols_.insert(var.node());
    shape_of_op(op, what);
    for (size_t i = 0; i < op.results.size() && fault_.empty(); ++i) {
      const Value& result = *op.results[i];
      check(result.op == &op && result.index == i, "a result of " + what + " belongs to another op");
    }
    for (const Region* inner : op.regions) {
      if (!fault_.empty()) return;
      check(inner->parent_op == &op && inner->function == &function_, "a region of " + what + " has another owner");
      // Values and symbols that a region defines are out of scope after it.
      auto values = values_;
      auto symbols = symbols_;
      region(*inner);
      values_ = std::move(values);
      symbols_ = std::move(symbols);
    }
    if (!fault_.empty()) return;
    for (const Value* result : op.results) value(*result);
    for (const Requirement& requirement : op.requirements)
      for (Var var : arith::free_vars(requirement.condition))
        check(symbols_.count(var.node()) != 0,
              "a requirement of " + what + " names '" + var.name() + "', which has no value");
  }

  void purity(const Op& op, const Block& block, const std::string& what) {
    if (!block.dataflow) return;
    check(!effects_.of_op(op), what + " has effects and is in a dataflow block");
  }

  /// Checks what each kind of op needs: an existing callee, and its numbers of operands, results and regions.
  void shape_of_op(const Op& op, const std::string& what) {
    bool regions = op.kind == OpKind::kIf || op.kind == OpKind::kLoop;
    check(regions || op.regions.empty(), what + " has regions");
    switch (op.kind) {
      case OpKind::kOperator:
        return operator_call(op, what);
      case OpKind::kConstant:
        counts(op, what, 0, 1);
        return check(op.constant != nullptr, what + " has no data");
      case OpKind::kShape: {
        counts(op, what, 0, 1);
        const auto* shape = fault_.empty() ? op.results[0]->info->as<ShapeInfo>() : nullptr;
        return check(shape != nullptr && shape->dims.has_value(), what + " has no dims");
      }
      case OpKind::kPrim: {
        counts(op, what, 0, 1);
        const auto* prim = fault_.empty() ? op.results[0]->info->as<PrimInfo>() : nullptr;
        return check(prim != nullptr && prim->value, what + " has no value");
      }
      case OpKind::kTuple:
        return check(op.results.size() == 1, what + " has no result");
      case OpKind::kTupleGet:
        counts(op, what, 1, 1);
        return check(op.attrs.has("index"), what + " has no index");
      case OpKind::kMatchCast:
        return counts(op, what, 1, 1);
      case OpKind::kCallTir:
        return check(module_.find_prim_func(op.callee) != nullptr, what + ": there is no such prim func");
      case OpKind::kCallFunction:
      case OpKind::kMakeClosure:
        return names_function(op, what);
      case OpKind::kCallClosure:
        return closure_call(op, what);
      case OpKind::kCallExternal:
      case OpKind::kShapeFunction:
        return check(!op.callee.empty(), what + " names no function");
      case OpKind::kCallInplace:
        return inplace(op, what);
      case OpKind::kAssert:
        check(op.results.empty() && op.operand(0) != nullptr, what + " has no condition");
        return check(op.attrs.has("format"), what + " has no format");
      case OpKind::kPrint:
        return check(op.results.empty() && op.attrs.has("format"), what + " has no format");
      case OpKind::kIf:
        return branches(op, what);
      case OpKind::kLoop:
        return loop(op, what);
    }
    RELAXC_UNREACHABLE();
  }

  void counts(const Op& op, const std::string& what, size_t operands, size_t results) {
    check(op.operands().size() == operands && op.results.size() == results,
          what + " has " + std::to_string(op.operands().size()) + " operands and " + std::to_string(op.results.size()) +
              " results");
  }

  void operator_call(const Op& op, const std::string& what) {
    check(op.def != nullptr, what + " is in no table");
    check(!op.results.empty(), what + " has no result");
    for (size_t i = 0; op.def != nullptr && i < op.def->attrs.size(); ++i)
      check(op.attrs.has(op.def->attrs[i].name), what + " has no attribute " + std::string(op.def->attrs[i].name));
  }

  /// Checks that the callee of a call, or of a closure, is a function of the module.
  void names_function(const Op& op, const std::string& what) {
    const Function* callee = module_.find_function(op.callee);
    check(callee != nullptr, what + ": there is no such function");
    if (callee == nullptr) return;
    const size_t given = op.operands().size(), wanted = callee->body().arguments.size();
    if (op.kind == OpKind::kCallFunction) return check(given == wanted, what + " has another number of arguments");
    check(op.results.size() == 1 && op.results[0]->info->as<CallableInfo>() != nullptr, what + " makes no callable");
    check(given <= wanted, what + " captures too many values");
  }

  void closure_call(const Op& op, const std::string& what) {
    const Value* callee = op.operand(0);
    const auto* type = callee == nullptr ? nullptr : callee->info->as<CallableInfo>();
    check(type != nullptr, what + " calls what is not a callable");
    check(type == nullptr || type->params.size() + 1 == op.operands().size(),
          what + " has another number of arguments");
  }

  void inplace(const Op& op, const std::string& what) {
    bool external = op.attrs.has("external") && op.attrs.flag("external");
    check(external || module_.find_prim_func(op.callee) != nullptr, what + ": there is no such prim func");
    check(op.attrs.has("inplace_indices") && op.attrs.ints("inplace_indices").size() == op.results.size(),
          what + " does not say where each result goes");
    if (!fault_.empty()) return;
    for (int64_t index : op.attrs.ints("inplace_indices"))
      check(index >= -1 && index < static_cast<int64_t>(op.operands().size()),
            what + " names an operand that does not exist");
  }

  void branches(const Op& op, const std::string& what) {
    check(op.operands().size() == 1 && op.operand(0) != nullptr, what + " has no condition");
    check(op.regions.size() == 2, what + " has no two branches");
    for (const Region* branch : op.regions)
      check(branch->arguments.empty() && branch->results().size() == op.results.size(),
            what + " and its branches differ in their results");
  }

  void loop(const Op& op, const std::string& what) {
    check(op.regions.size() == 1 && op.operands().size() >= 2, what + " has no body");
    if (!fault_.empty()) return;
    const Region& body = *op.regions[0];
    size_t carried = op.operands().size() - 2;
    check(body.arguments.size() == carried + 1, what + " carries another number of values than its body takes");
    check(body.results().size() >= carried + 1, what + " carries another number of values than its body gives");
    check(op.results.size() + 1 == body.results().size(), what + " has another number of results than its body gives");
    for (size_t i = 1; i < body.results().size(); ++i)
      check(body.results()[i] != nullptr, what + " carries nothing in one of its places");
  }

  const Module& module_;
  const Function& function_;
  const Effects& effects_;
  std::string fault_;
  std::unordered_map<const Value*, size_t> values_;  ///< values in scope, with the number of uses not visited yet
  const Op* at_ = nullptr;
  std::unordered_set<const arith::Node*> symbols_;
};

}  // namespace

std::string first_fault(const Module& module) {
  for (const tir::PrimFunc* function : module.prim_funcs())
    if (std::string fault = tir::first_fault(*function); !fault.empty())
      return "prim func '" + function->name + "': " + fault;
  Effects effects(module);
  for (const Function* function : module.functions())
    if (std::string fault = Verifier(module, *function, effects).run(); !fault.empty()) return fault;
  return {};
}

}  // namespace relaxc::relax
