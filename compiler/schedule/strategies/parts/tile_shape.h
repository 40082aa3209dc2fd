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

/// The tile of the fewest estimated cycles among those whose accumulators fit in registers.
///
/// \param unrolled, vectorized  extents of the two loops; `unrolled` is null if there is no loop to unroll
/// \param most_vectors          the most vectors along the vectorized loop
/// \param most_rows             the most iterations of the unrolled loop
/// \param terms                 estimated terms of each sum: the length of the panel that a tile reads
/// \param work                  operations between the load of a vector and its use, once for all rows
TileShape best_tile(const Target& target, Expr unrolled, Expr vectorized, int64_t lanes, int64_t most_vectors,
                    int64_t most_rows, double terms, double work);
/// That tile, then those with an estimate close to it, in ascending order; at most `most` in all.
std::vector<TileShape> good_tiles(const Target& target, Expr unrolled, Expr vectorized, int64_t lanes,
                                  int64_t most_vectors, int64_t most_rows, double terms, double work, size_t most);

}  // namespace relaxc::schedule
