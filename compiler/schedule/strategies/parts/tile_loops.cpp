// tile_loops.cpp: see tile_loops.h.
#include "compiler/schedule/strategies/parts/tile_loops.h"

#include <algorithm>

#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/split_overlapped.h"

namespace relaxc::schedule {
namespace {

Copies after(const Copies& first, const Copies& second) {
  Copies both = second;
  for (const auto& [from, to] : first.loops) {
    auto it = second.loops.find(to);
    both.loops[from] = it != second.loops.end() ? it->second : to;
  }
  for (const auto& [from, to] : first.blocks) {
    auto it = second.blocks.find(to);
    both.blocks[from] = it != second.blocks.end() ? it->second : to;
  }
  return both;
}

/// Whether the number of iterations is unknown and the last ones may run twice.
bool is_open_and_repeats(const Tree& s, uint32_t loop) {
  return s.loop(loop).extent.constant() == nullptr && SplitOverlapped{loop, 1, 0}.legal(s);
}

/// The size of the tiles after those of `factor` iterations.
int64_t smaller(int64_t factor, Remainder remainder) {
  if (factor > 4) return 4;
  return remainder == Remainder::kExact ? factor - 1 : factor > 2 ? 2 : 1;
}

}  // namespace

Legal<std::vector<AxisPart>> split_axis(Tree& s, uint32_t loop, int64_t factor, Remainder remainder) {
  std::vector<AxisPart> parts;
  Copies copies;
  while (loop != 0) {
    const int64_t* left = s.loop(loop).extent.constant();
    if (left != nullptr) factor = std::min(factor, std::max<int64_t>(*left, 1));
    if (factor <= 1) {
      parts.push_back({0, copies, loop});
      break;
    }
    const bool repeats = remainder == Remainder::kRepeats && parts.empty() && is_open_and_repeats(s, loop);
    RELAXC_STEP(SplitLoops split,
                repeats ? apply(s, SplitOverlapped{loop, factor, 0}) : apply(s, Split{loop, factor, Tail::kPeel}));
    if (split.inner != 0) parts.push_back({split.inner, copies, 0});
    copies = after(copies, split.copies);
    loop = split.tail;
    const int64_t* rest = loop == 0 ? nullptr : s.loop(loop).extent.constant();
    factor = rest != nullptr ? *rest : repeats ? 1 : smaller(factor, remainder);
  }
  return parts;
}

Legal<std::vector<VectorPart>> split_vectors(Tree& s, uint32_t loop, int64_t vectors, int64_t lanes, Tail tail,
                                             bool overlapped) {
  std::vector<VectorPart> parts;
  Copies copies;
  const int64_t* all = s.loop(loop).extent.constant();
  bool whole = vectors == 1 && tail == Tail::kMask && (all == nullptr || (*all > lanes && *all % lanes != 0));
  while (loop != 0) {
    const int64_t* left = s.loop(loop).extent.constant();
    int64_t most = left == nullptr ? vectors : tail == Tail::kMask ? (*left + lanes - 1) / lanes : *left / lanes;
    int64_t group = std::min(vectors, most);
    if (group < 1) {  // single elements
      parts.push_back({0, 0, copies});
      break;
    }
    // Only the last vector is masked, if nothing comes after it. All others have no mask: masked stores take tens of
    // cycles on some machines.
    bool last = !whole && (group == 1 || (left != nullptr && *left <= group * lanes));
    // One vector that is left is faster than a group that is repeated.
    const bool repeats = overlapped && parts.empty() && is_open_and_repeats(s, loop);
    RELAXC_STEP(SplitLoops cut, repeats ? apply(s, SplitOverlapped{loop, group * lanes, group > 1 ? lanes : 0})
                                        : apply(s, Split{loop, group * lanes, last ? tail : Tail::kPeel}));
    if (cut.inner != 0) {
      VectorPart part{0, cut.inner, copies};
      if (group > 1) {
        RELAXC_STEP(SplitLoops single, apply(s, Split{cut.inner, lanes, Tail::kPeel}));
        part.group = single.outer, part.lanes = single.inner;
      }
      parts.push_back(part);
    }
    copies = after(copies, cut.copies);
    loop = cut.tail;
    const int64_t* rest = loop == 0 ? nullptr : s.loop(loop).extent.constant();
    if (loop != 0 && rest == nullptr) vectors = group > 1 || whole ? 1 : 0;
    whole = false;
  }
  return parts;
}

}  // namespace relaxc::schedule
