// tile_loops.h: splits loops into tiles and smaller tiles for the remainder.
#pragma once

#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

/// A part of a loop that was split into tiles of one size.
struct AxisPart {
  uint32_t inner = 0;   ///< the loop inside of a tile; 0 if the part is not tiled
  Copies copies;        ///< this part's copies of the loops and blocks in the body
  uint32_t single = 0;  ///< the loop over single iterations of a part that is not tiled
};
/// What becomes of the remainder of a loop of open extent that is split into tiles.
enum class Remainder : uint8_t {
  kSmaller,  ///< smaller tiles, of 4, 2 and 1 iterations
  kExact,    ///< one tile of as many iterations as are left, if these are at most three
  kRepeats,  ///< if iterations may run twice, the last tile begins early enough to be whole; single iterations remain
             ///< only where there are fewer than a tile
};
/// Splits `loop` into tiles of `factor`, then the remainder into smaller ones.
Legal<std::vector<AxisPart>> split_axis(Tree& s, uint32_t loop, int64_t factor,
                                        Remainder remainder = Remainder::kSmaller);

/// A part of a loop that was split into groups of vectors of one size.
struct VectorPart {
  uint32_t group = 0;  ///< the loop over the vectors of a group; 0 for one vector
  uint32_t lanes = 0;  ///< the loop over the lanes of a vector; 0 for single elements
  Copies copies;       ///< this part's copies of the loops and blocks in the body
};
/// Splits `loop` into groups of `vectors` vectors, then the remainder into a smaller group, whose last vector is masked
/// or, with Tail::kPeel, computed as single elements. `overlapped`: Remainder::kRepeats for the last group where more
/// than one vector is left, or for the last vector.
Legal<std::vector<VectorPart>> split_vectors(Tree& s, uint32_t loop, int64_t vectors, int64_t lanes, Tail tail,
                                             bool overlapped = false);

}  // namespace relaxc::schedule
