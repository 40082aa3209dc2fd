// dead_code.cpp: removes what nothing uses.
//
// A field of a tuple that the function makes is replaced by the value itself. Then backwards over each function: an op
// stays if it has an effect, if a result is used, or if it binds a symbol that a live op mentions. Symbols are used by
// struct info instead of operands, so they are counted apart from the use-lists. Then private functions and prim funcs
// that no public one reaches are removed.
#include "compiler/transform/graph/dead_code.h"

#include <unordered_map>
#include <unordered_set>

#include "compiler/relax/effects.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

class Sweep {
 public:
  Sweep(Function& function, const Effects& effects) : function_(function), effects_(effects) {}

  Changed run() {
    size_t before = ops_of(function_.body(), true).size();
    look_through_tuples();
    for (Op* op : ops_of(function_.body(), true))
      for (arith::Var var : op->binds) binders_[var].push_back(op);
    mark_region(function_.body());
    // Dead ops may use each other, so all operands are dropped before an op is erased.
    std::vector<Op*> ops = ops_of(function_.body(), true);
    for (Op* op : ops)
      if (live_.count(op) == 0) drop(*op);
    erase_ops(function_.body(), [&](Op* op) { return live_.count(op) == 0; });
    return ops_of(function_.body(), true).size() == before ? Changed::kNo : Changed::kYes;
  }

 private:
  /// Replaces a field of a tuple that is made here by the value itself, so that it does not use the other fields.
  void look_through_tuples() {
    for (Op* op : ops_of(function_.body(), true)) {
      if (op->kind != OpKind::kTupleGet) continue;
      const Op* tuple = op->operand(0)->op;
      if (tuple == nullptr || tuple->kind != OpKind::kTuple) continue;
      op->result()->replace_all_uses_with(tuple->operand(static_cast<size_t>(op->attrs.integer("index"))));
    }
  }

  /// Returns whether the op stays for its effects. Outside a dataflow block an external function may have some.
  bool stays(const Op& op) const {
    if (effects_.of_op(op) || op.kind == OpKind::kMatchCast) return true;  // a match_cast is a guard
    bool calls_out = op.kind == OpKind::kCallExternal || op.kind == OpKind::kShapeFunction ||
                     (op.kind == OpKind::kCallInplace && op.attrs.flag("external"));
    if (calls_out) return !op.block->dataflow;
    for (const Region* region : op.regions)
      for (const Op* inner : ops_of(*region))
        if (stays(*inner)) return true;
    return false;
  }

  static void drop(Op& op) {
    op.drop_operands();
    for (Region* region : op.regions) region->yield->drop_operands();
  }

  void mark_region(Region& region) {
    for (Value* argument : region.arguments) mark_symbols(argument->info);
    for (Value* result : region.results())
      if (result != nullptr) mark_value(*result);
    for (Block* block : region.blocks)
      for (auto it = block->ops.rbegin(); it != block->ops.rend(); ++it)
        if (stays(**it)) mark(**it);
    drain();
  }

  void mark_value(Value& value) {
    if (value.op != nullptr) mark(*value.op);
    if (value.info != nullptr) mark_symbols(value.info);
  }
  /// Marks the ops that bind the symbols in `info`: they are live when something live mentions the symbols.
  void mark_symbols(Info info) {
    if (!infos_.insert(info).second) return;  // each use of a tuple comes here with the infos of all its fields
    for (arith::Var var : symbols_of(info)) {
      if (!symbols_.insert(var).second) continue;
      auto binders = binders_.find(var);
      if (binders == binders_.end()) continue;
      for (Op* op : binders->second) mark(*op);
    }
  }
  void mark(Op& op) {
    if (live_.insert(&op).second) waiting_.push_back(&op);
  }
  void drain() {
    while (!waiting_.empty()) {
      Op* op = waiting_.back();
      waiting_.pop_back();
      if (op->block != nullptr && op->block->parent->parent_op != nullptr) mark(*op->block->parent->parent_op);
      for (Value* operand : op->operands())
        if (operand != nullptr) mark_value(*operand);
      for (Value* result : op->results) mark_symbols(result->info);
      for (Region* region : op->regions) mark_region(*region);
    }
  }

  Function& function_;
  const Effects& effects_;
  std::unordered_set<Op*> live_;
  std::unordered_set<Info> infos_;  ///< whose symbols are marked
  std::unordered_set<Expr> symbols_;
  std::unordered_map<Expr, std::vector<Op*>> binders_;
  std::vector<Op*> waiting_;
};

/// Returns the names of functions and prim funcs that public ones reach, by a worklist, since chains may be long.
std::unordered_set<std::string> reached(Module& module) {
  std::unordered_set<std::string> names;
  std::vector<std::string> waiting;
  auto reach = [&](const std::string& name) {
    if (!name.empty() && names.insert(name).second) waiting.push_back(name);
  };
  for (Function* function : module.functions())
    if (!function->is_private) reach(function->name);
  for (tir::PrimFunc* function : module.prim_funcs())
    if (!function->is_private) reach(function->name);
  while (!waiting.empty()) {
    std::string name = std::move(waiting.back());
    waiting.pop_back();
    if (Function* function = module.find_function(name))
      for (Op* op : ops_of(function->body(), true)) reach(op->callee);
    if (tir::PrimFunc* function = module.find_prim_func(name))
      tir::for_each_stmt(function->body, [&](tir::Stmt s) {
        if (const auto* invoke = s.as<tir::Invoke>()) reach(invoke->callee);
      });
  }
  return names;
}

Changed remove_unreached(Module& module) {
  std::unordered_set<std::string> names = reached(module);
  return module.remove_if([&](const std::string& name) { return names.count(name) == 0; }) ? Changed::kYes
                                                                                           : Changed::kNo;
}

}  // namespace

Changed remove_dead_ops(relax::Module& module) {
  Changed changed = Changed::kNo;
  Effects effects(module);
  for (Function* function : module.functions()) changed |= Sweep(*function, effects).run();
  return changed | remove_unreached(module);
}

Result<Changed> dead_code(relax::Module& module, PassContext&) {
  return remove_dead_ops(module);
}

}  // namespace relaxc
