// cache_read.cpp: see cache_read.h.
#include "compiler/schedule/primitives/cache_read.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/region.h"
#include "compiler/schedule/primitives/scratch_copy.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;

Legal<CacheRead::Facts> CacheRead::legal(const Tree& tree) const {
  const Stmt around(&tree.loop(loop));
  RELAXC_STEP(const Region region, is_cacheable(tree, buffer, loop));
  RELAXC_REQUIRE(!is_stored(tree, is_inside_loop(tree, loop, tir::LoopKind::kParallel) ? tree.root() : around, buffer),
                 fmt::format("{} is stored to while loop '{}' runs", buffer->name, loop_name(tree, loop)));
  return region;
}

CacheRead::Made CacheRead::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  const BufferRef cache = cache_of(tree, buffer, facts);
  const Stmt copy = copy_between(tree, buffer, cache, facts, true);
  tree.edit_loop(loop, [&](const For& from) {
    return build.alloc(cache, build.seq({copy, through(tree, cache, Stmt(&from), buffer, facts)}));
  });
  uint32_t innermost = 0;
  for (const auto* copied = copy.as<For>(); copied != nullptr; copied = copied->body.as<For>()) innermost = copied->id;
  return innermost;
}

}  // namespace relaxc::schedule
