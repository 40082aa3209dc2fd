// fold_branches.cpp: replaces an If whose condition is known by the branch that is taken.
//
// Exporters keep conditions on configuration (a sampling rate, a cache that is never there), which are known once
// shapes and constants are. The ops of the branch move to the place of the If, and the other branch is removed with it,
// and so is what only it used.
#include <algorithm>

#include "compiler/relax/known.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// Returns the value of a bool scalar that is a constant or follows from facts about symbols; nothing for any other.
std::optional<bool> known_truth(const Value& value, const arith::Facts& facts) {
  if (const auto* prim = value.info->as<PrimInfo>(); prim != nullptr && prim->value) {
    if (prim->dtype != DType::boolean()) return std::nullopt;
    if (arith::prove(prim->value, facts)) return true;
    if (arith::prove(arith::logical_not(prim->value), facts)) return false;
    return std::nullopt;
  }
  ConstantRef data = constant_of(&value);
  if (data == nullptr || data->elements() != 1 || data->dtype() != DType::boolean()) return std::nullopt;
  return decode_integer(data->dtype(), data->to_vector().data()) != 0;
}

class Folding {
 public:
  explicit Folding(Function& function) : function_(function) {}

  Changed run() {
    std::vector<Block*> waiting = function_.body().blocks;
    while (!waiting.empty()) {
      Block* block = waiting.back();
      waiting.pop_back();
      fold(*block);
      for (Op* op : block->ops)
        for (Region* region : op->regions) waiting.insert(waiting.end(), region->blocks.begin(), region->blocks.end());
    }
    return changed_;
  }

 private:
  /// Lists each op once: the ops of a taken branch are put in front of those that are still to come.
  void fold(Block& block) {
    std::vector<Op*> coming(block.ops.rbegin(), block.ops.rend());
    block.ops.clear();
    while (!coming.empty()) {
      Op* op = coming.back();
      coming.pop_back();
      std::optional<bool> holds;
      arith::Facts room;
      if (op->kind == OpKind::kIf && op->binds.empty())
        holds = known_truth(*op->operand(0), known_facts(function_.body(), nullptr, room));
      Region* taken = holds ? op->regions[*holds ? 0 : 1] : nullptr;
      if (taken == nullptr || !fits(*op, *taken)) {
        block.ops.push_back(op);
        continue;
      }
      changed_ = Changed::kYes;
      std::vector<Op*> moved = ops_of(*taken);
      for (Op* inner : moved) inner->block = &block;
      coming.insert(coming.end(), moved.rbegin(), moved.rend());
      for (size_t i = 0; i < op->results.size(); ++i) op->results[i]->replace_all_uses_with(taken->results()[i]);
      for (Block* emptied : taken->blocks) emptied->ops.clear();
      taken->yield->drop_operands();
      drop(*op->regions[*holds ? 1 : 0]);
      op->drop_operands();
      op->block = nullptr;
    }
  }

  /// Returns whether the branch's results have the infos of the If's; those of a branch may be known better.
  bool fits(const Op& op, const Region& taken) const {
    for (size_t i = 0; i < op.results.size(); ++i)
      if (taken.results()[i] == nullptr || !same(op.results[i]->info, taken.results()[i]->info)) return false;
    return true;
  }

  static void drop(Region& region) {
    for (Op* op : ops_of(region, true)) {
      op->drop_operands();
      for (Region* inner : op->regions) inner->yield->drop_operands();
    }
    region.yield->drop_operands();
  }

  Function& function_;
  Changed changed_ = Changed::kNo;
};

}  // namespace

Result<Changed> fold_branches(relax::Module& module, PassContext&) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= Folding(*function).run();
  return changed;
}

}  // namespace relaxc
