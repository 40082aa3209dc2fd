// tile.h: the shape of a register tile.
#pragma once

#include "compiler/schedule/tree/edit.h"
#include "targets/target.h"

namespace relaxc::schedule {

struct TileShape {
  int64_t unrolled = 1;  ///< iterations of the unrolled axis
  int64_t vectors = 1;   ///< vectors along the vectorized axis
};

/// The tiles whose accumulators fit in registers and that do the whole work in the fewest cycles.
///
/// \param unrolled, vectorized  extents of the two axes; null: there is no axis to unroll
/// \param most_vectors          at most so many vectors side by side
/// \param most_rows             at most so many iterations of the unrolled axis
/// \param terms                 of each sum, about: how long the panel of vectors is that a tile reads
/// \param work                  operations that make an operand's vector of what is loaded, once for all rows
TileShape best_tile(const Target& target, Expr unrolled, Expr vectorized, int64_t lanes, int64_t most_vectors,
                    int64_t most_rows, double terms, double work);
/// That tile, and after it those that come near, the better first; `most` in all.
std::vector<TileShape> good_tiles(const Target& target, Expr unrolled, Expr vectorized, int64_t lanes,
                                  int64_t most_vectors, int64_t most_rows, double terms, double work, size_t most);

/// Cuts the axis of `loop` into tiles of `factor` and smaller ones for what is left. Each part gives the loop inside of
/// a tile (0: the part's iterations come one by one).
struct AxisPart {
  uint32_t inner = 0;
  Copies copies;  ///< what this part has in place of what was in the body of the axis
};
Legal<std::vector<AxisPart>> cut_axis(Tree& s, uint32_t loop, int64_t factor);

/// Cuts the axis of `loop` into groups of whole vectors, and what is left into a smaller group; its last vector is
/// masked or, with Tail::kPeel, left to single elements.
struct VectorPart {
  uint32_t group = 0;  ///< the loop over the vectors of a group; 0: one vector
  uint32_t lanes = 0;  ///< the loop over a vector; 0: single elements
  Copies copies;       ///< what this part has in place of what was in the body of the axis
};
Legal<std::vector<VectorPart>> cut_vectors(Tree& s, uint32_t loop, int64_t vectors, int64_t lanes, Tail tail);

}  // namespace relaxc::schedule
