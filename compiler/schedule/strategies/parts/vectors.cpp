// vectors.cpp: see vectors.h.
#include "compiler/schedule/strategies/parts/vectors.h"

#include <algorithm>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/drop_unit_loop.h"
#include "compiler/schedule/primitives/fuse.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/vectorize.h"

namespace relaxc::schedule {

int64_t lanes_of(const Target& target, Stmt s) {
  int32_t bits = 8;
  for_each_access(s, [&](const Access& access) { bits = std::max<int32_t>(bits, access.buffer->dtype.bits); });
  // Narrow elements are mostly computed in 32 bits.
  return target.vector_bits == 0 ? 1 : std::max(target.lanes(std::max(bits, 32)), 1);
}

Tail tail_of(const Target& target) {
  return target.masks_cheaply() ? Tail::kMask : Tail::kPeel;
}

Legal<> fuse_neighbours(Tree& s, std::vector<uint32_t>& loops) {
  for (size_t i = loops.size(); i-- > 1;) {
    if (!can_fuse(s.loop(loops[i - 1]), s.loop(loops[i]))) continue;
    RELAXC_STEP(loops[i - 1], apply(s, Fuse{loops[i - 1], loops[i]}));
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return Done{};
}

Legal<> drop_unit_loops(Tree& s, std::vector<uint32_t>& loops) {
  for (size_t i = loops.size(); i-- > 0 && loops.size() > 1;) {
    if (!s.loop(loops[i]).extent.is_constant(1)) continue;
    RELAXC_LEGAL(apply(s, DropUnitLoop{loops[i]}));
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return Done{};
}

Legal<> vectorize_whole(Tree& s, uint32_t loop, int64_t lanes, const Target& target) {
  RELAXC_STEP(SplitLoops whole, apply(s, Split{loop, lanes, Tail::kPeel}));
  if (whole.inner != 0) RELAXC_LEGAL(apply(s, Vectorize{whole.inner}));
  if (whole.tail == 0) return Done{};
  RELAXC_STEP(SplitLoops rest, apply(s, Split{whole.tail, lanes, tail_of(target)}));
  if (rest.inner != 0) RELAXC_LEGAL(apply(s, Vectorize{rest.inner}));
  return Done{};
}

}  // namespace relaxc::schedule
