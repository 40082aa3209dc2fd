// pool.cpp: computes pools one row of the result after the other.
//
// The problem: a pool does almost no work on its input, so it should take as long as reading it. Tap by tap, each
// element is read again for each tap along a row, with a mask if there is a border, and with a shuffle if windows are
// more than one element apart.
//
// The method: the rows of a row of windows are first reduced to one, column by column, with whole vectors whatever the
// step; some such rows stay in the first level of cache, between borders that are written once for all of them, and
// then windows are reduced along each. A window of n x n takes 2 n steps instead of n x n, and no lane needs a
// condition. Several rows are needed, because what was just stored cannot be loaded by other vectors at once. Rows of
// an image of open width are divided into parts such that a few of them fit; conditions on a part's border are
// evaluated once for all of its rows.
//
// Rejected: a tile of several rows, as for other reductions. They share no operand, and the processor's prefetcher does
// not follow thirty rows that are read side by side.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/schedule/primitives/pool_rows.h"
#include "compiler/schedule/primitives/reassociate.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr int64_t kPoolShareOfL1 = 2;  ///< kept rows may take 1 / this of the first level of cache
constexpr int64_t kOpenRows = 4;       ///< of a block, approximately, if the number of rows or columns is open

struct PoolBlock {
  int64_t rows = 1, columns = 0;
};

/// As many rows as half of the first level of cache holds, in blocks of equal size if possible.
PoolBlock block_of(const PoolShape& pool, int64_t lanes, const Target& target) {
  const int64_t room = target.l1_bytes / kPoolShareOfL1;
  PoolBlock block;
  if (pool.has_open_columns) {
    const int64_t fit = 1 + std::max<int64_t>(0, room / kOpenRows - pool.bytes_of_window) / pool.bytes_of_step;
    block.columns = std::clamp<int64_t>(std::min(fit, pool.columns) / lanes * lanes, lanes, fit);
  }
  const int64_t bytes = pool.bytes_of_row(pool.has_open_columns ? block.columns : pool.columns);
  int64_t most = std::clamp<int64_t>(room / bytes, 1, pool.rows);
  const int64_t blocks = (pool.rows - 1) / most + 1;
  block.rows = (pool.rows - 1) / blocks + 1;
  return block;
}

struct Pool {
  uint32_t block = 0;
  PoolShape shape;
  int64_t lanes = 1;
};

Legal<Pool> match_pool(const Draft& draft) {
  RELAXC_FITS(!draft.in_blocks && draft.tree.may_allocate(), "there is no scratch memory");
  const std::optional<ReductionGroup>& group = draft.group;
  RELAXC_FITS(group, "it is not a reduction with its consumers");
  const int64_t lanes = lanes_of(*draft.target, group->reduction);
  RELAXC_FITS(lanes >= 2, "the target has no vectors");
  const std::optional<PoolShape> shape = pool_shape_of(draft.tree, *group);
  RELAXC_FITS(shape, "it does not reduce windows of one operand alone");
  RELAXC_FITS(shape->columns >= (lanes + 1) / 2, "rows are so short that vectors would be mostly empty");
  return Pool{analysis::as_nest(group->reduction).block->id, *shape, lanes};
}

struct RowsOfWindows {
  uint32_t block = 0;
  PoolBlock size;
  int64_t lanes = 1;

  std::string text() const {
    const std::string parts = size.columns != 0 ? fmt::format(" of at most {} columns", size.columns) : "";
    return fmt::format("{} rows{} at a time, reduced to one, then windows along it", size.rows, parts);
  }
  Legal<> carry_out(Draft& draft) const {
    RELAXC_LEGAL(apply(draft.tree, Reassociate{block}));
    RELAXC_STEP(const PooledRows loops, apply(draft.tree, PoolRows{block, size.rows, size.columns}));
    RELAXC_LEGAL(vectorize_whole(draft.tree, loops.places, lanes, *draft.target));
    return vectorize_whole(draft.tree, loops.columns, lanes, *draft.target);
  }
};

/// The cycles of loading a vector for each tap, of which a window of n x m has n + m.
double pool_cycles(const Draft& draft, const Pool& pool) {
  double all = 1, by_dims = 0;
  for (const tir::IterVar& iter : draft.tree.block(pool.block).iters) {
    const int64_t* taps = iter.iter_kind == tir::IterKind::kReduce ? iter.extent.constant() : nullptr;
    if (taps == nullptr) continue;
    all *= static_cast<double>(*taps), by_dims += static_cast<double>(*taps);
  }
  const double loads = terms_of(draft.group->reduction) * std::min(1.0, by_dims / all);
  return loads / static_cast<double>(pool.lanes) / draft.target->loads_per_cycle;
}

Legal<RowsOfWindows> plan_pool(const Draft& draft, const Pool& pool) {
  return RowsOfWindows{pool.block, block_of(pool.shape, pool.lanes, *draft.target), pool.lanes};
}

}  // namespace

std::span<const Strategy> pool_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "pool",
               .stage = Stage::kNests,
               .priority = 60,
               .doc = "A reduction of only the windows of one operand: the rows of the windows are reduced to "
                      "one, then the windows along that row. Changes the order of the reduction.",
               .propose = propose<match_pool, kForExplanation<pool_cycles>, plan_pool>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
