// expansion.cpp: see expansion.h.
//
// An expansion may contain operators that expand again. Every block is written again from a queue of its ops, and the
// ops of an expansion are put at its front: each op is visited once, however many there are.
//
// An operator requires more than its parts require (the channels of an empty tensor still have to make groups), so the
// first op that replaces it gets its requirements too.
#include "compiler/transform/graph/rewriting/expansion.h"

#include <deque>

#include "compiler/relax/builder.h"
#include "compiler/relax/origin_text.h"

namespace relaxc {
namespace {

using namespace relax;

class Expansion {
 public:
  Expansion(Module& module, PassContext& context, bool (*wanted)(const OpDef&))
      : module_(module), context_(context), wanted_(wanted) {}

  Result<Changed> run(Function& function) {
    blocks_ = function.body().blocks;
    while (!blocks_.empty()) {
      Block* block = blocks_.back();
      blocks_.pop_back();
      RELAXC_DO(rewrite(*block));
    }
    return changed_;
  }

 private:
  Status rewrite(Block& block) {
    std::deque<Op*> waiting(block.ops.begin(), block.ops.end());
    std::vector<Requirement> owed;
    block.ops.clear();
    while (!waiting.empty()) {
      Op* op = waiting.front();
      waiting.pop_front();
      if (op->kind == OpKind::kOperator && op->def->expand != nullptr && wanted_(*op->def)) {
        for (Requirement requirement : op->requirements) {
          requirement.text = located_text(*op, requirement);
          owed.push_back(std::move(requirement));
        }
        RELAXC_DO(expand(block, *op, waiting));
        continue;
      }
      op->requirements.insert(op->requirements.end(), owed.begin(), owed.end());
      owed.clear();
      block.ops.push_back(op);
      for (Region* region : op->regions) blocks_.insert(blocks_.end(), region->blocks.begin(), region->blocks.end());
    }
    return Done{};
  }

  /// Puts the ops that `op` expands to at the front of `waiting`.
  Status expand(Block& block, Op& op, std::deque<Op*>& waiting) {
    Diagnostics& diag = context_.diag;
    size_t before = block.ops.size();
    GraphBuilder builder(module_, context_.ops, &block, diag);
    builder.location = op.location;
    RELAXC_TRY(std::vector<Value*> values, op.def->expand(builder, op));
    RELAXC_CHECK(values.size() == op.results.size(),
                 std::string(op.def->name.text()) + " expands to another number of results");
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i]->name.empty()) values[i]->name = op.results[i]->name;
      op.results[i]->replace_all_uses_with(values[i]);
    }
    op.drop_operands();
    waiting.insert(waiting.begin(), block.ops.begin() + static_cast<std::ptrdiff_t>(before), block.ops.end());
    block.ops.resize(before);
    changed_ = Changed::kYes;
    return Done{};
  }

  Module& module_;
  PassContext& context_;
  bool (*wanted_)(const OpDef&);
  std::vector<Block*> blocks_;
  Changed changed_ = Changed::kNo;
};

}  // namespace

Result<Changed> expand_operators(relax::Module& module, relax::Function& function, PassContext& context,
                                 bool (*wanted)(const relax::OpDef&)) {
  return Expansion(module, context, wanted).run(function);
}

}  // namespace relaxc
