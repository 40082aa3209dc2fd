// tile.cpp: choosing and cutting register tiles.
//
// A tile of m rows and n vectors needs m * n accumulators, n vectors of one operand and one broadcast of the other. A
// core with two ports for multiplications and two for loads takes m * n / 2 or (m + n) / 2 cycles for a step of the
// reduction, but not less than the latency of the addition that the next step waits for. All shapes are tried, there
// are few; each is judged with the smaller tiles that its remainders need.
#include "compiler/schedule/tile.h"

#include <algorithm>
#include <utility>

#include "compiler/schedule/access.h"

namespace relaxc::schedule {
namespace {

constexpr double kLatency = 4;     ///< cycles of a fused multiply-add
constexpr double kUnknown = 1000;  ///< an extent that is not known is taken to be large

/// How often each size of tile occurs along an axis of `extent` steps, cut by `size`.
using Pieces = std::pair<std::pair<double, int64_t>, std::pair<double, int64_t>>;
Pieces pieces(double extent, int64_t size) {
  double whole = static_cast<double>(static_cast<int64_t>(extent) / size);
  int64_t rest = static_cast<int64_t>(extent) % size;
  return {{whole, size}, {rest > 0 ? 1 : 0, rest}};
}

double cycles(int64_t m, int64_t n) {
  double loads = static_cast<double>(m + n), work = static_cast<double>(m * n);
  return std::max({work / 2, loads / 2, kLatency}) + 0.1 * loads;
}

double extent_or(Expr extent, double unknown) {
  const int64_t* count = extent ? extent.constant() : nullptr;
  return count != nullptr ? static_cast<double>(std::max<int64_t>(*count, 1)) : unknown;
}

/// The same number of tiles, of sizes as equal as possible.
int64_t balanced(double extent, int64_t size) {
  auto count = static_cast<int64_t>(extent);
  int64_t tiles = (count + size - 1) / size;
  return (count + tiles - 1) / tiles;
}

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

}  // namespace

TileShape best_tile(const Target& target, Expr unrolled, Expr vectorized, int64_t lanes, int64_t most_vectors) {
  TileShape best;
  double best_cycles = 1e30;
  double rows = unrolled ? extent_or(unrolled, kUnknown) : 1;
  double vectors = extent_or(vectorized, kUnknown * static_cast<double>(lanes));
  vectors = static_cast<double>((static_cast<int64_t>(vectors) + lanes - 1) / lanes);
  for (int64_t n = 1; n <= most_vectors; ++n)
    for (int64_t m = 1; m <= 16; ++m) {
      if (m * n + n + 1 > target.vector_registers || static_cast<double>(m) > rows || static_cast<double>(n) > vectors)
        continue;
      TileShape shape{balanced(rows, m), balanced(vectors, n)};
      auto [whole_rows, last_rows] = pieces(rows, shape.unrolled);
      auto [whole_vectors, last_vectors] = pieces(vectors, shape.vectors);
      double total = 0;
      for (auto [count, size] : {whole_rows, last_rows})
        for (auto [groups, width] : {whole_vectors, last_vectors})
          if (count * groups > 0) total += count * groups * cycles(size, width);
      if (total < best_cycles * 0.999) best_cycles = total, best = shape;
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
    const int64_t* rest = loop == 0 ? nullptr : s.loop(loop).extent.constant();
    factor = rest != nullptr ? *rest : factor > 4 ? 4 : 1;
  }
  return parts;
}

std::vector<VectorPart> cut_vectors(Schedule& s, uint32_t loop, int64_t vectors, int64_t lanes, Tail tail) {
  std::vector<VectorPart> parts;
  Copies copies;
  while (loop != 0) {
    const int64_t* left = s.loop(loop).extent.constant();
    int64_t most = left == nullptr ? vectors : tail == Tail::kMask ? (*left + lanes - 1) / lanes : *left / lanes;
    int64_t group = std::min(vectors, most);
    if (group < 1) {  // single elements
      parts.push_back({0, 0, copies});
      break;
    }
    // The last vector is masked where nothing comes after it.
    bool last = group == 1 || (left != nullptr && *left <= group * lanes);
    SplitLoops cut = s.split(loop, group * lanes, last ? tail : Tail::kPeel);
    if (cut.inner != 0) {
      VectorPart part{0, cut.inner, copies};
      if (group > 1) {
        SplitLoops single = s.split(cut.inner, lanes, Tail::kPeel);
        part.group = single.outer, part.lanes = single.inner;
      }
      parts.push_back(part);
    }
    copies = after(copies, cut.copies);
    loop = cut.tail;
    const int64_t* rest = loop == 0 ? nullptr : s.loop(loop).extent.constant();
    if (loop != 0 && rest == nullptr) vectors = group > 1 ? 1 : 0;
  }
  return parts;
}

}  // namespace relaxc::schedule
