// tile.h: the shape of a register tile.
#pragma once

#include "compiler/schedule/schedule.h"
#include "targets/target.h"

namespace relaxc::schedule {

struct TileShape {
  int64_t unrolled = 1;  ///< iterations of the unrolled axis
  int64_t vectors = 1;   ///< vectors along the vectorized axis
};

/// The tile that does most arithmetic for each operand it loads while its accumulators fit in registers, with little
/// of the axes left over.
///
/// \param unrolled, vectorized  extents of the two axes; null: there is no axis to unroll
TileShape best_tile(const Target& target, Expr unrolled, Expr vectorized, int64_t lanes);

/// Cuts the axis of `loop` into tiles of `factor` and ever smaller ones for what is left. Each part gives the loop
/// inside of a tile (0: the part's iterations come one by one).
struct AxisPart {
  uint32_t inner = 0;
  Copies copies;  ///< what this part has in place of what was in the body of the axis
};
std::vector<AxisPart> cut_axis(Schedule& s, uint32_t loop, int64_t factor);

}  // namespace relaxc::schedule
