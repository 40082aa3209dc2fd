// tile.cpp: choosing and cutting register tiles.
//
// A tile of m rows and n vectors needs m * n accumulators, n vectors of one operand and one broadcast of the other, and
// loads m + n operands for m * n multiplications. All shapes are tried, there are few; the score is the share of the
// multiplications among all, times the share of the tile's lanes that work on average. Two FMA ports with a latency of
// four need eight independent accumulators, so smaller tiles score in proportion.
#include "compiler/schedule/tile.h"

#include <algorithm>

#include "compiler/schedule/access.h"

namespace relaxc::schedule {
namespace {

/// The share of work that is useful when `extent` iterations are done in steps of `step`.
double used(Expr extent, int64_t step) {
  const int64_t* count = extent ? extent.constant() : nullptr;
  if (count == nullptr || *count <= 0) return 1;
  return static_cast<double>(*count) / static_cast<double>((*count + step - 1) / step * step);
}

Copies after(const Copies& first, const Copies& second) {
  Copies both = second;
  for (const auto& [from, to] : first.loops)
    if (auto it = second.loops.find(to); it != second.loops.end()) both.loops[from] = it->second;
  for (const auto& [from, to] : first.blocks)
    if (auto it = second.blocks.find(to); it != second.blocks.end()) both.blocks[from] = it->second;
  return both;
}

}  // namespace

TileShape best_tile(const Target& target, Expr unrolled, Expr vectorized, int64_t lanes) {
  TileShape best;
  double best_score = -1;
  for (int64_t n = 1; n <= 8; ++n)
    for (int64_t m = 1; m <= 16; ++m) {
      if (m > 1 && (!unrolled || (unrolled.constant() != nullptr && *unrolled.constant() < m))) continue;
      if (n > 1 && vectorized.constant() != nullptr && *vectorized.constant() <= lanes * (n - 1)) continue;
      if (m * n + n + 1 > target.vector_registers) continue;
      double work = static_cast<double>(m * n);
      double share = work / (work + static_cast<double>(m + n)) * std::min(1.0, work / 8);
      // What does not fill whole groups of vectors is done vector by vector, which costs little more.
      double score = share * used(unrolled, m) * (used(vectorized, lanes * n) + used(vectorized, lanes)) / 2;
      if (score > best_score * 1.001) best_score = score, best = {m, n};
    }
  return best;
}

std::vector<AxisPart> cut_axis(Schedule& s, uint32_t loop, int64_t factor) {
  std::vector<AxisPart> parts;
  Copies copies;
  while (loop != 0) {
    const int64_t* left = s.loop(loop).extent.constant();
    if (left != nullptr) factor = std::min(factor, std::max<int64_t>(*left, 1));
    if (factor <= 1) {
      parts.push_back({0, copies});
      break;
    }
    SplitLoops split = s.split(loop, factor, Tail::kPeel);
    if (split.inner != 0) parts.push_back({split.inner, copies});
    copies = after(copies, split.copies);
    loop = split.tail;
    factor = factor > 4 ? 4 : 1;
  }
  return parts;
}

}  // namespace relaxc::schedule
