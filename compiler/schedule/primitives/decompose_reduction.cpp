// decompose_reduction.cpp: see decompose_reduction.h.
#include "compiler/schedule/primitives/decompose_reduction.h"

#include <fmt/format.h>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;

namespace {

/// Removes a nest right before that of the block that initializes the block's result, which its init does now.
void drop_fill(Tree& tree, uint32_t block_id) {
  tir::Builder build(tree.context());
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    const auto* seq = s.as<tir::Seq>();
    for (size_t i = 1; seq != nullptr && i < seq->body.size(); ++i) {
      const analysis::Nest nest = analysis::as_nest(seq->body[i]);
      if (nest.block == nullptr || nest.block->id != block_id) continue;
      if (!initializes(analysis::as_nest(seq->body[i - 1]), nest)) break;
      std::vector<Stmt> parts = seq->body;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      return build.seq(std::move(parts));
    }
    return s;
  };
  tree.set_root(tir::rewrite(tree.context(), tree.root(), rewriter));
}

}  // namespace

Legal<DecomposeReduction::Facts> DecomposeReduction::legal(const Tree& tree) const {
  const Block from = tree.block(block);
  arith::Substitution map = bindings(from);
  RELAXC_REQUIRE(from.init && !from.predicate, "the block has no init that could be a block of its own");
  const Stmt init = tir::substitute(tree.context(), from.init, map);
  std::vector<const For*> inside;
  for (const For* at = &tree.loop(loop); at != nullptr; at = at->body.as<For>()) inside.push_back(at);
  const auto* innermost = inside.back()->body.as<Block>();
  bool outermost = innermost != nullptr && innermost->id == block && is_plain(from.body);
  for (const tir::IterVar& iter : from.iters) {
    // The loops must cover all terms of the sum; a split loop would leave other parts.
    bool reduces = iter.iter_kind == tir::IterKind::kReduce;
    auto own = std::find_if(inside.begin(), inside.end(), [&](const For* one) { return iter.binding == one->var; });
    outermost &= !reduces || (own != inside.end() && arith::prove_equal((*own)->extent, iter.extent) &&
                              arith::prove_equal((*own)->min, iter.min));
    for (const For* other : inside) outermost &= reduces || !depends_on(iter.binding, other->var);
  }
  RELAXC_REQUIRE(
      outermost,
      fmt::format("loop '{}' is not the outermost of just the reduction's loops around block '{}', each whole",
                  loop_name(tree, loop), block_name(tree, block)));
  return Facts{map, init};
}

Legal<Stmt> update_in_loops(const Tree& tree, BlockId block, LoopId loop) {
  RELAXC_STEP(const DecomposeReduction::Facts facts, (DecomposeReduction{block, loop}.legal(tree)));
  return tir::substitute(tree.context(), tree.block(block).body, facts.axes);
}

DecomposeReduction::Made DecomposeReduction::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  const Block from = tree.block(block);
  drop_fill(tree, block);
  tree.edit_block(block, [&](const Block&) {
    Block update = from;
    update.body = tir::substitute(tree.context(), from.body, facts.axes);
    update.init = {};
    update.iters.clear(), update.reads.clear(), update.writes.clear();
    return make_stmt(tree.context(), std::move(update));
  });
  tree.edit_loop(loop, [&](const For& sums) {
    Block begin;
    begin.name = from.name + "_init";
    begin.body = facts.init;
    return build.seq({build.block(std::move(begin)), Stmt(&sums)});
  });
  return Done{};
}

}  // namespace relaxc::schedule
