// tile_sums.h: the step `tile_sums`.
#pragma once

#include "compiler/schedule/primitives/sum_tile.h"

namespace relaxc::schedule {

/// Sums in a tile of `row` by `column`, one directly inside of the other (row 0: one row), both of known extents: body
/// of `column` is {sum = init; sum += … in loops; what follows}, with a sum of its own. Each sum of the tile is in a
/// register of its own; when all are complete, they become vectors of `lanes` columns, with which what follows is done.
struct TileSums {
  static constexpr StepInfo kInfo{
      .name = "tile_sums",
      .arguments = "LOOP|- LOOP LANES",
      .doc =
          "A tile of rows by columns, whose sums are in a register each until they are complete; what follows the sums "
          "is done for LANES columns at once."};
  LoopId row, column;
  int64_t lanes = 1;
  static auto fields(auto& self) { return std::tie(self.row, self.column, self.lanes); }

  using Made = Done;
  using Facts = SumTile;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
