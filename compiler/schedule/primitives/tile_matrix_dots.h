// tile_matrix_dots.h: the step `tile_matrix_dots`.
#pragma once

#include "compiler/schedule/primitives/sum_tile.h"

namespace relaxc::schedule {

/// Sums of products of eight bytes, in a tile of `row` by `column`, one directly inside of the other (row 0: one row),
/// both of known extents: body of `column` is {sum = init; sum += dot8(…) in loops; what follows}, with a sum of its
/// own. All sums of the tile are in registers, in 2x2 blocks of four lanes: two rows by two columns, as instructions
/// for matrices take them. Behind an odd row or column the last row is computed again, or the padding of the constant.
struct TileMatrixDots {
  static constexpr StepInfo kInfo{
      .name = "tile_matrix_dots",
      .arguments = "LOOP|- LOOP",
      .doc =
          "A tile of rows by columns, whose sums of tensorize_dot8 are in registers as blocks of 2x2; what follows "
          "the sums runs for the whole tile after them."};
  LoopId row, column;
  static auto fields(auto& self) { return std::tie(self.row, self.column); }

  using Made = Done;
  struct Facts : SumTile {
    bool columns_first = false;  ///< lanes 0 and 1 are of one column
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
