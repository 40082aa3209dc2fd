// tile_shape.h: the shape of a register tile.
#pragma once

#include <vector>

#include "compiler/arith/expr.h"
#include "targets/target.h"

namespace relaxc::schedule {

using arith::Expr;

struct TileShape {
  int64_t unrolled = 1;  ///< iterations of the unrolled axis
  int64_t vectors = 1;   ///< vectors along the vectorized axis
};

struct TileLimits {
  int64_t registers = 16;       ///< for sums, vectors and a broadcast
  int64_t vectors = 1;          ///< along the vectorized loop
  int64_t rows = 1;             ///< iterations of the unrolled loop
  int64_t rows_of_vector = 16;  ///< the same in tiles of one vector
};

/// What a tile does besides its products.
struct TileReads {
  double terms = 1;  ///< of each sum, about: the length of the panel that a tile reads
  double work = 0;   ///< operations between the load of a vector and its use, once for all rows
  /// Whether the tiles along the vectorized axis are inside of those of rows, so that a tile finds in a cache what one
  /// of the rows before it read of all of that axis, and not what the tile before it read.
  bool vectors_inside = false;
};

/// The tile of the fewest estimated cycles, then those with an estimate close to it, in ascending order; at most `most`
/// in all.
///
/// \param unrolled, vectorized  extents of the two loops; `unrolled` is null if there is no loop to unroll
std::vector<TileShape> good_tiles(const Target& target, Expr unrolled, Expr vectorized, int64_t lanes,
                                  const TileLimits& limits, const TileReads& reads, size_t most);

}  // namespace relaxc::schedule
