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

/// The tiles whose accumulators fit in registers and that do the whole work in the fewest cycles.
///
/// \param unrolled, vectorized  extents of the two axes; null: there is no axis to unroll
/// \param most_vectors          the most vectors side by side
/// \param most_rows             the most iterations of the unrolled axis
/// \param terms                 of each sum, about: how long the panel of vectors is that a tile reads
/// \param work                  operations that make an operand's vector of what is loaded, once for all rows
TileShape best_tile(const Target& target, Expr unrolled, Expr vectorized, int64_t lanes, int64_t most_vectors,
                    int64_t most_rows, double terms, double work);
/// That tile, and after it those that come near, the better first; `most` in all.
std::vector<TileShape> good_tiles(const Target& target, Expr unrolled, Expr vectorized, int64_t lanes,
                                  int64_t most_vectors, int64_t most_rows, double terms, double work, size_t most);

}  // namespace relaxc::schedule
