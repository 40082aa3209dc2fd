// spatial.cpp: the rule for nests without a reduction.
//
// These are bound by memory; what matters is that every load and store is a whole vector. Axes that stand side by side
// in all operands become one, so that a last dim of 3 does not leave 13 of 16 lanes empty. Where an operand is
// transposed, its elements for one vector lie in as many cache lines, and the neighbours that the lines hold are wanted
// by the next iterations of an outer loop: a line's worth of those goes inside of the loop over vectors. Where the last
// axis is a few elements that lie apart in an operand (channels of a picture that come last from now on), lanes lie
// along the axis before it, and each stores all of its few, side by side.
#include <algorithm>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/bind_axes.h"
#include "compiler/schedule/primitives/chunk.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/stage_loads.h"
#include "compiler/schedule/primitives/unroll.h"
#include "compiler/schedule/primitives/vectorize.h"
#include "compiler/schedule/strategies/rule_parts.h"

namespace relaxc::schedule {

namespace {

/// Whether some operand's elements lie apart along the loop.
bool reads_apart(const Tree& s, uint32_t block, const tir::For& loop) {
  bool apart = false;
  for_each_access(Stmt(&s.block(block)), [&](const Access& access) {
    std::optional<int64_t> step = step_of(access.buffer, access.indices, loop.var);
    apart |= !access.is_store && (!step || *step > 1 || *step < 0);
  });
  return apart;
}

/// Fewer iterations than half a vector has lanes: what lies apart costs more lane by lane in a vector than one by one.
bool is_short(const tir::For& loop, int64_t lanes) {
  const int64_t* extent = loop.extent.constant();
  return extent != nullptr && *extent * 2 < lanes;
}

constexpr int64_t kFew = 8;  ///< elements of the last axis that lanes along the one before store side by side

/// Whether along `across` all loads are contiguous or stay, and what one iteration stores begins where the other ends.
bool is_whole_along(const Tree& s, uint32_t block, const tir::For& across, int64_t few) {
  bool whole = true;
  for_each_access(Stmt(&s.block(block)), [&](const Access& access) {
    std::optional<int64_t> step = step_of(access.buffer, access.indices, across.var);
    whole &= access.is_store ? step == few : step && (*step == 0 || *step == 1);
  });
  return whole;
}

/// Lanes lie along the loop before the last, which is short and goes inside of them.
Legal<bool> store_side_by_side(Tree& s, uint32_t block, const std::vector<uint32_t>& loops, int64_t lanes) {
  if (loops.size() < 2) return false;
  uint32_t across = loops[loops.size() - 2], last = loops.back();
  const int64_t* few = s.loop(last).extent.constant();
  if (few == nullptr || *few > kFew || !can_reorder(s, {across, last})) return false;
  const Tree before = s;
  RELAXC_LEGAL(apply(s, StageLoads{block, 0}));
  SplitLoops split;
  if (is_whole_along(s, block, s.loop(across), *few)) {
    RELAXC_STEP(split, apply(s, Split{across, lanes, Tail::kPeel}));
  }
  if (split.inner == 0) {
    s = before;
    return false;
  }
  RELAXC_LEGAL(apply(s, Vectorize{split.inner}));
  RELAXC_LEGAL(apply(s, Unroll{last}));
  return true;
}

/// The loop along which some operand is contiguous that lies apart along `vectorized`; 0: there is none.
uint32_t loop_along_lines(const Tree& s, uint32_t block, const std::vector<uint32_t>& loops, int64_t line_bytes,
                          int64_t& elements) {
  uint32_t found = 0;
  for_each_access(Stmt(&s.block(block)), [&](const Access& access) {
    std::optional<int64_t> step = step_of(access.buffer, access.indices, s.loop(loops.back()).var);
    if (access.is_store || found != 0 || (step && (*step == 0 || *step == 1))) return;
    for (uint32_t loop : loops)
      if (loop != loops.back() && step_of(access.buffer, access.indices, s.loop(loop).var) == 1)
        found = loop, elements = line_bytes * 8 / access.buffer->dtype.bits;
  });
  return found;
}

/// A line's worth of the iterations of `along` goes inside of the loop over vectors.
Legal<> read_lines_once(Tree& s, uint32_t along, int64_t elements, std::vector<uint32_t> loops,
                        const SplitLoops& vectors) {
  loops.back() = vectors.outer;
  auto at = std::find(loops.begin(), loops.end(), along);
  std::vector<uint32_t> moved(at, loops.end());
  if (vectors.outer == 0 || !can_reorder(s, moved)) return Done{};
  const int64_t* extent = s.loop(along).extent.constant();
  if (extent != nullptr && *extent <= elements) {
    std::rotate(moved.begin(), moved.begin() + 1, moved.end());
    return apply(s, Reorder{moved});
  }
  if (known_divisor(s, along) % elements == 0) {
    RELAXC_STEP(SplitLoops lines, apply(s, Split{along, elements, Tail::kPeel}));
    moved[0] = lines.outer;
    moved.push_back(lines.inner);
  } else {
    RELAXC_STEP(moved[0], apply(s, Chunk{along, elements}));
    moved.push_back(s.loop(moved[0]).body.as<tir::For>()->id);
  }
  return apply(s, Reorder{moved});
}

}  // namespace

Legal<bool> schedule_spatial(Tree& s, const Target& target) {
  analysis::Nest nest = analysis::as_nest(s.root());
  int64_t lanes = lanes_of(target, s.root());
  if (lanes < 2 || nest.loops.empty() || !is_normal(nest) || nest.block->init) return false;
  uint32_t block = nest.block->id;
  std::vector<uint32_t> loops;
  for (const tir::For* loop : nest.loops) loops.push_back(loop->id);
  RELAXC_LEGAL(apply(s, BindAxes{}));
  RELAXC_LEGAL(fuse_neighbours(s, loops));
  const auto& store = *s.block(block).body.as<tir::Store>();
  const tir::For& last = s.loop(loops.back());
  if (step_of(store.buffer, store.indices, last.var) != 1 || last.extent.is_constant(1)) return false;
  if (reads_apart(s, block, last)) {
    RELAXC_STEP(const bool done, store_side_by_side(s, block, loops, lanes));
    if (done) return true;
    if (is_short(last, lanes)) return false;
  }
  RELAXC_LEGAL(apply(s, StageLoads{block, 0}));
  int64_t elements = 0;
  uint32_t along = loop_along_lines(s, block, loops, target.line_bytes, elements);
  RELAXC_STEP(SplitLoops split, apply(s, Split{loops.back(), lanes, tail_of(target)}));
  if (split.inner == 0) return false;
  if (along != 0) RELAXC_LEGAL(read_lines_once(s, along, elements, loops, split));
  RELAXC_LEGAL(apply(s, Vectorize{split.inner}));
  return true;
}

}  // namespace relaxc::schedule
