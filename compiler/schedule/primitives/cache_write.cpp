// cache_write.cpp: see cache_write.h.
#include "compiler/schedule/primitives/cache_write.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/region.h"
#include "compiler/schedule/primitives/scratch_copy.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;

Legal<CacheWrite::Facts> CacheWrite::legal(const Tree& tree) const {
  const Stmt around(&tree.loop(loop));
  RELAXC_STEP(const Region region, is_cacheable(tree, buffer, loop));
  RELAXC_REQUIRE(is_stored(tree, around, buffer),
                 fmt::format("loop '{}' does not store to {}", loop_name(tree, loop), buffer->name));
  RELAXC_REQUIRE(
      !is_inside_loop(tree, loop, tir::LoopKind::kParallel) && tree.loop(loop).loop_kind != tir::LoopKind::kParallel,
      fmt::format("other iterations than those of loop '{}' may store next to them at the same time",
                  loop_name(tree, loop)));
  return region;
}

CacheWrite::Made CacheWrite::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  const Stmt around(&tree.loop(loop));
  const BufferRef cache = cache_of(tree, buffer, facts);
  const Stmt fill = fills(around, buffer, facts) ? Stmt() : copy_between(tree, buffer, cache, facts, true);
  const Stmt back = copy_between(tree, buffer, cache, facts, false);
  tree.edit_loop(loop, [&](const For& from) {
    return build.alloc(cache, build.seq({fill, through(tree, cache, Stmt(&from), buffer, facts), back}));
  });
  return Done{};
}

}  // namespace relaxc::schedule
