// prefetch.cpp: see prefetch.h.
#include "compiler/schedule/primitives/prefetch.h"

#include <fmt/format.h>

#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"
#include "compiler/tir/annotations.h"

namespace relaxc::schedule {

using tir::For;
using tir::LoopKind;

Legal<Prefetch::Facts> Prefetch::legal(const Tree& tree) const {
  constexpr int64_t kMost = 1 << 20;
  RELAXC_REQUIRE(tree.loop(loop).loop_kind == LoopKind::kVectorized,
                 fmt::format("loop '{}' is not vectorized", loop_name(tree, loop)));
  RELAXC_REQUIRE(bytes > 0 && bytes <= kMost, fmt::format("a line 1 to {} bytes ahead can be prefetched", kMost));
  return Done{};
}

Prefetch::Made Prefetch::apply(Tree& tree, const Facts&) const {
  tree.edit_loop(loop, [&](const For& from) {
    For to = from;
    to.annotations[tir::kPrefetch] = bytes;
    return make_stmt(tree.context(), std::move(to));
  });
  return Done{};
}

}  // namespace relaxc::schedule
