// hoist_invariants.cpp: computes loop-invariant ops once, before the loop.
//
// An op of a loop's body moves before the loop if none of its operands, and no symbol of its types, comes from inside.
// A loop may run no iteration, so only ops that cannot fail move: those without requirements whose definition has no
// guard, and only at the top of the body, since a branch may not be taken. Moving costs memory for the length of the
// loop, so tensors that are only filled, and views (which cost nothing in place), stay.
//
// Inner loops come first: an op that leaves one may leave the next.
#include <algorithm>
#include <unordered_set>

#include "compiler/tir/visit.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

class Hoisting {
 public:
  Hoisting(Module& module, Function& function) : module_(module), function_(function) {}

  Changed run() {
    std::vector<Op*> ops = ops_of(function_.body(), true);
    for (auto op = ops.rbegin(); op != ops.rend(); ++op)
      if ((*op)->kind == OpKind::kLoop) hoist(**op);
    return changed_;
  }

 private:
  void hoist(Op& loop) {
    std::unordered_set<const Value*> inside;
    std::unordered_set<Expr> symbols;
    auto adopt_arguments = [&](const Region& region) {
      for (const Value* argument : region.arguments) {
        inside.insert(argument);
        for (Var var : symbols_of(argument->info))
          if (!known_outside(loop, var)) symbols.insert(var);
      }
    };
    for (Region* region : loop.regions) {
      adopt_arguments(*region);
      for (Op* op : ops_of(*region, true)) {
        inside.insert(op->results.begin(), op->results.end());
        for (Var var : op->binds) symbols.insert(var);
        for (Region* inner : op->regions) adopt_arguments(*inner);
      }
    }
    std::vector<Op*> moved;
    for (Op* op : ops_of(*loop.regions[0])) {
      if (!may_move(*op, inside, symbols)) continue;
      for (Value* result : op->results) inside.erase(result);
      moved.push_back(op);
    }
    // Constants and shapes are moved only together with an op that needs them.
    std::unordered_set<const Op*> wanted;
    for (auto op = moved.rbegin(); op != moved.rend(); ++op) {
      bool worth = (*op)->kind == OpKind::kOperator && (*op)->def->role == Role::kKernel;
      if (!worth && wanted.count(*op) == 0) continue;
      wanted.insert(*op);
      for (const Value* operand : (*op)->operands())
        if (operand != nullptr && operand->op != nullptr) wanted.insert(operand->op);
    }
    std::erase_if(moved, [&](const Op* op) { return wanted.count(op) == 0; });
    if (moved.empty()) return;
    changed_ = Changed::kYes;
    std::unordered_set<const Op*> gone(moved.begin(), moved.end());
    for (Block* block : loop.regions[0]->blocks) std::erase_if(block->ops, [&](Op* op) { return gone.count(op) != 0; });
    auto& ops = loop.block->ops;
    ops.insert(std::find(ops.begin(), ops.end(), &loop), moved.begin(), moved.end());
    for (Op* op : moved) op->block = loop.block;
  }

  /// Returns whether an operand of the loop has the symbol, which is then known before the loop.
  static bool known_outside(const Op& loop, Var var) {
    for (const Value* operand : loop.operands()) {
      if (operand == nullptr) continue;
      std::vector<Var> there = symbols_of(operand->info);
      if (std::find(there.begin(), there.end(), var) != there.end()) return true;
    }
    return false;
  }

  bool may_move(const Op& op, const std::unordered_set<const Value*>& inside,
                const std::unordered_set<Expr>& symbols) const {
    bool plain = op.kind == OpKind::kConstant || op.kind == OpKind::kShape || op.kind == OpKind::kOperator;
    if (!plain || !op.binds.empty() || !op.requirements.empty() || !op.regions.empty()) return false;
    for (const Value* operand : op.operands())
      if (operand != nullptr && inside.count(operand) != 0) return false;
    for (const Value* result : op.results)
      for (Var var : symbols_of(result->info))
        if (symbols.count(var) != 0) return false;
    if (op.kind != OpKind::kOperator) return true;
    if (op.def->role == Role::kView) return true;
    return op.def->pure && op.def->define != nullptr && reads_a_tensor(op) && cannot_fail(op);
  }

  static bool reads_a_tensor(const Op& op) {
    return std::any_of(op.operands().begin(), op.operands().end(), [](const Value* operand) {
      return operand != nullptr && operand->info->as<TensorInfo>() != nullptr;
    });
  }

  bool cannot_fail(const Op& op) const {
    bool guarded = false;
    tir::PrimFunc function = define_op(module_.context(), op, "asked");
    tir::for_each_stmt(function.body, [&](tir::Stmt s) { guarded |= s.as<tir::Guard>() != nullptr; });
    return !guarded;
  }

  Module& module_;
  Function& function_;
  Changed changed_ = Changed::kNo;
};

}  // namespace

Result<Changed> hoist_invariants(relax::Module& module, PassContext&) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= Hoisting(module, *function).run();
  return changed;
}

}  // namespace relaxc
