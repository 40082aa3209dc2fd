// nests.cpp: see nests.h.
#include "compiler/schedule/analysis/nests.h"

#include <algorithm>

namespace relaxc::schedule {

bool is_normal(const analysis::Nest& nest) {
  if (nest.block == nullptr || nest.block->iters.size() != nest.loops.size()) return false;
  std::vector<Expr> unbound;
  for (const tir::For* loop : nest.loops) {
    if (!loop->min.is_constant(0) || loop->loop_kind != tir::LoopKind::kSerial) return false;
    for (const tir::For* other : nest.loops)
      if (depends_on(loop->extent, other->var)) return false;
    unbound.push_back(loop->var);
  }
  for (const tir::IterVar& iter : nest.block->iters) {
    auto found = std::find(unbound.begin(), unbound.end(), iter.binding);
    if (found == unbound.end() || !iter.min.is_constant(0)) return false;
    unbound.erase(found);
  }
  return true;
}

std::vector<Var> own_axes(const analysis::Nest& nest) {
  std::vector<Var> axes;
  for (const tir::IterVar& iter : nest.block->iters)
    if (iter.iter_kind == tir::IterKind::kSpatial) axes.push_back(iter.var);
  bool own = std::equal(axes.begin(), axes.end(), nest.store->indices.begin(), nest.store->indices.end(),
                        [](Var axis, Expr index) { return index == axis; });
  return own ? axes : std::vector<Var>{};
}

}  // namespace relaxc::schedule
