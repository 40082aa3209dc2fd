// prefetching.h: what a register tile asks for before it reads it.
#pragma once

#include <cstdint>

#include "compiler/schedule/strategies/parts/tile_shape.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Operands of this many times the second level of cache come from beyond it; a heuristic.
inline constexpr double kFarCaches = 2;

/// What is prefetched; nothing if both are 0.
struct Prefetching {
  int64_t bytes = 0;  ///< distance of what tiles that come later read, where it comes from beyond the second level
  int64_t terms = 0;  ///< what the sum of this tile reads that many terms later
};

/// \param vectors_inside  all tiles along the vectorized axis come before the next rows, so that what one of them reads
///                        stays in a cache only if all of it does
Prefetching prefetching_of(const Draft& draft, const TileShape& shape, bool vectors_inside);

/// Adds prefetches of terms to the sums of a tile that is in focus.
Legal<> prefetch_terms(Tree& tree, int64_t terms);

}  // namespace relaxc::schedule
