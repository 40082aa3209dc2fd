// pool_strategy.cpp: pools, a row of the result after the other.
//
// The problem: a pool does next to nothing with what it reads, so it should take as long as reading it. Tap by tap each
// element is read again for each tap along a row, with a mask where there is a border, and with a shuffle where windows
// are more than one element apart.
//
// The method: rows first. The rows of a row of windows are reduced to one, column by column, which are whole vectors
// whatever the step; some such rows stay in the first level of cache, between borders that are written once for all of
// them, and then windows are reduced along each. A window of n x n takes 2 n steps instead of n x n, and no lane asks
// where it is. It takes some rows, because what has just been stored cannot be loaded by other vectors at once.
//
// Rejected: a tile of several rows, as other reductions have it. There is no operand that they share, and reading
// thirty rows side by side is what the processor does not foresee.
#include <algorithm>

#include "compiler/schedule/primitives/pool_rows.h"
#include "compiler/schedule/primitives/reassociate.h"
#include "compiler/schedule/strategies/rule_parts.h"

namespace relaxc::schedule {

namespace {

constexpr int64_t kPoolShareOfL1 = 2;  ///< rows that are kept have one by this of the first level of cache

/// As many rows as half of the first level of cache has room for, in blocks of equal size if possible.
int64_t rows_of_pool_block(const PoolShape& pool, const Target& target) {
  int64_t most = std::clamp<int64_t>(target.l1_bytes / kPoolShareOfL1 / pool.bytes_of_row, 1, pool.rows);
  int64_t blocks = (pool.rows + most - 1) / most;
  return (pool.rows + blocks - 1) / blocks;
}

}  // namespace

Legal<bool> schedule_pool(Tree& s, const ReductionGroup& group, const Target& target) {
  int64_t lanes = lanes_of(target, group.reduction);
  const std::optional<PoolShape> pool = pool_shape_of(s, group);
  // Else a vector would be mostly empty.
  if (!s.may_allocate() || lanes < 2 || !pool || pool->columns * 2 < lanes) return false;
  const uint32_t block = analysis::as_nest(group.reduction).block->id;
  RELAXC_LEGAL(apply(s, Reassociate{block}));
  RELAXC_STEP(const PooledRows loops, apply(s, PoolRows{block, rows_of_pool_block(*pool, target)}));
  RELAXC_LEGAL(vectorize_whole(s, loops.places, lanes, target));
  RELAXC_LEGAL(vectorize_whole(s, loops.columns, lanes, target));
  return true;
}

}  // namespace relaxc::schedule
