// unroll.cpp: see unroll.h.
#include "compiler/schedule/primitives/unroll.h"

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

Legal<Unroll::Facts> Unroll::legal(const Tree& tree) const {
  RELAXC_LEGAL(has_few_iterations(tree, loop));
  return is_in_order(tree, loop);
}

Unroll::Made Unroll::apply(Tree& tree, const Facts&) const {
  set_loop_kind(tree, loop, tir::LoopKind::kUnrolled);
  return Done{};
}

}  // namespace relaxc::schedule
