// rule_parts.cpp: see rule_parts.h.
#include "compiler/schedule/rule_parts.h"

#include <algorithm>

#include "compiler/schedule/access.h"

namespace relaxc::schedule {

int64_t lanes_of(const Target& target, Stmt s) {
  int32_t bits = 8;
  for_each_access(s, [&](const Access& access) { bits = std::max<int32_t>(bits, access.buffer->dtype.bits); });
  // Narrow elements are mostly computed as 32 bits.
  return target.vector_bits == 0 ? 1 : std::max(target.lanes(std::max(bits, 32)), 1);
}

Tail tail_of(const Target& target) {
  return target.vector_bits >= 256 ? Tail::kMask : Tail::kPeel;
}

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

void fuse_neighbours(Schedule& s, std::vector<uint32_t>& loops) {
  for (size_t i = loops.size(); i-- > 1;) {
    if (!can_fuse(s.loop(loops[i - 1]), s.loop(loops[i]))) continue;
    loops[i - 1] = s.fuse(loops[i - 1], loops[i]);
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace relaxc::schedule
