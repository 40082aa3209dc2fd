// vectorize.cpp: see vectorize.h.
#include "compiler/schedule/primitives/vectorize.h"

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

Legal<Vectorize::Facts> Vectorize::legal(const Tree& tree) const {
  RELAXC_LEGAL(has_few_iterations(tree, loop));
  RELAXC_LEGAL(runs_together(tree, loop));
  RELAXC_REQUIRE(tree.loop(loop).loop_kind == tir::LoopKind::kSerial,
                 "a parallel loop cannot be vectorized; split it first");
  RELAXC_REQUIRE(!is_inside_loop(tree, loop, tir::LoopKind::kVectorized),
                 "a loop inside of a vectorized one cannot be vectorized, too");
  return is_in_order(tree, loop);
}

Vectorize::Made Vectorize::apply(Tree& tree, const Facts&) const {
  set_loop_kind(tree, loop, tir::LoopKind::kVectorized);
  return Done{};
}

}  // namespace relaxc::schedule
