// pools.h: small memories of the caller beside the arena, for what is moved most.
#pragma once

#include <vector>

#include "compiler/plan/storage.h"

namespace relaxc::plan {

/// Which pieces are in which pool, and where.
struct Pooled {
  std::vector<int> pools;        ///< of each piece; -1: none
  std::vector<int64_t> offsets;  ///< in its pool
  std::vector<int64_t> bytes;    ///< of each pool: what is used of it, at most
};

/// Fills pools of these bytes, the first one first, with the pieces of most `traffic` (bytes moved) for each byte that
/// they hold; a size of open dims counts by its bound. What fits none is left to the arena.
Pooled assign_pools(Context& context, const std::vector<Piece>& pieces, const std::vector<double>& traffic,
                    const std::vector<int64_t>& pools, const arith::Facts& facts);

}  // namespace relaxc::plan
