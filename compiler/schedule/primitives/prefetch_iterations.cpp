// prefetch_iterations.cpp: see prefetch_iterations.h.
#include "compiler/schedule/primitives/prefetch_iterations.h"

#include <fmt/format.h>

#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"
#include "compiler/tir/annotations.h"

namespace relaxc::schedule {

Legal<PrefetchIterations::Facts> PrefetchIterations::legal(const Tree& tree) const {
  constexpr int64_t kMost = 4096;
  RELAXC_REQUIRE(tree.loop(loop).loop_kind == tir::LoopKind::kSerial,
                 fmt::format("loop '{}' is not serial", loop_name(tree, loop)));
  RELAXC_REQUIRE(iterations > 0 && iterations <= kMost,
                 fmt::format("what 1 to {} iterations later is read can be prefetched", kMost));
  return Done{};
}

PrefetchIterations::Made PrefetchIterations::apply(Tree& tree, const Facts&) const {
  tree.edit_loop(loop, [&](const tir::For& from) {
    tir::For to = from;
    to.annotations[tir::kPrefetchIterations] = iterations;
    return make_stmt(tree.context(), std::move(to));
  });
  return Done{};
}

}  // namespace relaxc::schedule
