// register_transpose.cpp: see register_transpose.h.
#include "compiler/schedule/strategies/parts/register_transpose.h"

#include <algorithm>

#include "compiler/schedule/primitives/chunk.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/unroll.h"
#include "compiler/schedule/primitives/vectorize.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr int64_t kMostOfSquare = 16;  ///< lanes of a square that is transposed in registers
constexpr int64_t kLeastOfSquare = 4;

/// The loops with the last one moved to the front.
std::vector<uint32_t> with_last_first(std::vector<uint32_t> loops) {
  std::rotate(loops.begin(), loops.end() - 1, loops.end());
  return loops;
}

std::vector<uint32_t> loops_in_copies(const Copies& copies, std::vector<uint32_t> loops) {
  for (uint32_t& loop : loops) loop = copies.loops.at(loop);
  return loops;
}

/// Transposes squares of elements in one nest of loops.
class SquareTransposition {
 public:
  SquareTransposition(Tree& s, int64_t lanes, int64_t line) : s_(s), lanes_(lanes), line_(line) {}

  /// Puts lanes along the first of the loops, along which operands are contiguous, and unrolls iterations of the last
  /// one, which each lane stores side by side. Remainders at the edges become smaller squares if extents are known, and
  /// else are computed as they are defined.
  Legal<> run(std::vector<uint32_t> loops) {
    const int64_t size = square_tile_of(s_, loops.front(), loops.back(), lanes_);
    if (size == 0) return Done{};
    RELAXC_STEP(const SplitLoops rows, split_last(loops, size));
    loops.back() = rows.outer;
    if (rows.outer == 0) loops.pop_back();
    loops.push_back(rows.inner);
    return in_lanes(loops, size);
  }

 private:
  /// Splits the first loop into columns, as many at a time as a square has, then fewer. The last of the loops are rows
  /// of squares.
  Legal<> in_lanes(const std::vector<uint32_t>& loops, int64_t size) {
    RELAXC_STEP(const SplitLoops columns, apply(s_, Split{loops.front(), size, Tail::kPeel}));
    if (is_known(columns.tail)) {
      std::vector<uint32_t> rest = loops_in_copies(columns.copies, {loops.begin() + 1, loops.end()});
      rest.insert(rest.begin(), columns.tail);
      const int64_t fewer = square_tile_of(s_, columns.tail, rest.back(), lanes_);
      if (fewer != 0) RELAXC_LEGAL(in_lanes(rest, fewer));
    }
    return put_in_lanes({loops.begin() + 1, loops.end() - 1}, columns, loops.back(), size);
  }

  bool is_known(uint32_t loop) const { return loop != 0 && s_.loop(loop).extent.constant() != nullptr; }

  /// Splits the last loop, which is made outermost for this time so that the remainder comes after everything.
  Legal<SplitLoops> split_last(const std::vector<uint32_t>& loops, int64_t size) {
    const std::vector<uint32_t> others(loops.begin(), loops.end() - 1);
    RELAXC_LEGAL(apply(s_, Reorder{with_last_first(loops)}));
    RELAXC_STEP(const SplitLoops rows, apply(s_, Split{loops.back(), size, Tail::kPeel}));
    if (rows.tail != 0) {
      std::vector<uint32_t> rest = loops_in_copies(rows.copies, others);
      rest.push_back(rows.tail);
      RELAXC_LEGAL(apply(s_, Reorder{rest}));
      if (is_known(rows.tail)) RELAXC_LEGAL(run(rest));
    }
    std::vector<uint32_t> order = others;
    if (rows.outer != 0) order.push_back(rows.outer);
    order.push_back(rows.inner);
    RELAXC_LEGAL(apply(s_, Reorder{order}));
    return rows;
  }

  /// Reads some cache lines from each row before the next rows.
  Legal<> put_in_lanes(std::vector<uint32_t> order, const SplitLoops& columns, uint32_t row, int64_t size) {
    if (columns.outer != 0) {
      RELAXC_STEP(const uint32_t lines, apply(s_, Chunk{columns.outer, std::max<int64_t>(1, line_ / size)}));
      order.insert(order.begin(), lines);
      order.push_back(s_.loop(lines).body.as<tir::For>()->id);
    }
    order.insert(order.end(), {columns.inner, row});
    RELAXC_LEGAL(apply(s_, Reorder{order}));
    RELAXC_LEGAL(apply(s_, Vectorize{columns.inner}));
    return apply(s_, Unroll{row});
  }

  Tree& s_;
  const int64_t lanes_, line_;  ///< elements of a vector, and of the cache lines that are read together
};

}  // namespace

int64_t square_tile_of(const Tree& s, uint32_t along, uint32_t last, int64_t lanes) {
  int64_t size = std::min(lanes, kMostOfSquare);
  for (uint32_t loop : {along, last})
    if (const int64_t* extent = s.loop(loop).extent.constant(); extent != nullptr)
      while (size > *extent) size /= 2;
  return size >= kLeastOfSquare ? size : 0;
}

Legal<> transpose_in_registers(Tree& tree, const std::vector<uint32_t>& loops, int64_t lanes, int64_t line) {
  return SquareTransposition(tree, lanes, line).run(loops);
}

}  // namespace relaxc::schedule
