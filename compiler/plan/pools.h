// pools.h: places the buffers with the most traffic in small memories of the caller beside the arena.
#pragma once

#include <vector>

#include "compiler/plan/storage.h"

namespace relaxc::plan {

/// The pool of each piece, and its offset there.
struct Pooled {
  std::vector<int> pools;        ///< index of each piece's pool; -1: none
  std::vector<int64_t> offsets;  ///< in its pool, in bytes
  std::vector<int64_t> bytes;    ///< upper bound of what is used of each pool
};

/// Fills pools of these bytes, the first one first, with the pieces that have the most `traffic` (bytes moved) for each
/// byte of their size. A symbolic size must fit by its upper bound. Pieces that fit no pool are left to the arena.
Pooled assign_pools(Context& context, const std::vector<Piece>& pieces, const std::vector<double>& traffic,
                    const std::vector<int64_t>& pools, const arith::Facts& facts);

}  // namespace relaxc::plan
