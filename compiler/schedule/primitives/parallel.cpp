// parallel.cpp: see parallel.h.
#include "compiler/schedule/primitives/parallel.h"

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

Legal<Parallel::Facts> Parallel::legal(const Tree& tree) const {
  return is_parallelizable(tree, loop);
}

Parallel::Made Parallel::apply(Tree& tree, const Facts&) const {
  set_loop_kind(tree, loop, tir::LoopKind::kParallel);
  return Done{};
}

}  // namespace relaxc::schedule
