// tile_loops.h: loops cut into register tiles.
#pragma once

#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

/// \param overlapped  where the number of iterations is open and they may run twice, the last tile begins early enough
/// to
///                    be whole, and single iterations are left only of fewer than a tile
/// Cuts the axis of `loop` into tiles of `factor` and smaller ones for what is left. Each part gives the loop inside of
/// a tile (0: the part's iterations come one by one).
struct AxisPart {
  uint32_t inner = 0;
  Copies copies;        ///< what this part has in place of what was in the body of the axis
  uint32_t single = 0;  ///< the loop over iterations that come one by one
};
Legal<std::vector<AxisPart>> split_axis(Tree& s, uint32_t loop, int64_t factor, bool overlapped = false);

/// Cuts the axis of `loop` into groups of whole vectors, and what is left into a smaller group; its last vector is
/// masked or, with Tail::kPeel, left to single elements.
struct VectorPart {
  uint32_t group = 0;  ///< the loop over the vectors of a group; 0: one vector
  uint32_t lanes = 0;  ///< the loop over a vector; 0: single elements
  Copies copies;       ///< what this part has in place of what was in the body of the axis
};
Legal<std::vector<VectorPart>> split_vectors(Tree& s, uint32_t loop, int64_t vectors, int64_t lanes, Tail tail,
                                             bool overlapped = false);

}  // namespace relaxc::schedule
