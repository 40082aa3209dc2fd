// fused_conv_pool_tiling.cpp: runs a convolution and the pool of its result by blocks of rows.
//
// The map between the two then never reaches memory. Winograd convolutions have blocks of their own and save more than
// this: a kernel that contains one is not divided.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/nest_groups.h"
#include "compiler/schedule/primitives/fused_conv_pool_tiling.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/parts/winograd_tiles.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr int64_t kMapShareOfL2 = 2;  ///< the rows of a block may take 1 / this of the second level
/// Rows of a block if the size of the map is open. YuNet of bench/models at 640x640 and 256x320, one thread, 15 pairs
/// of windows: blocks of one row take 1.05 and 1.03 of the time, blocks of four 1.00. After blocks of two, at most one
/// row is left, which is why tasks may share the loop over it; of three rows they may not.
constexpr int64_t kOpenRows = 2;

/// The number of rows such that those of the map fit the second level of cache, in blocks of equal size; 0 if blocks
/// gain nothing. All tasks together must not need more memory than the map.
int64_t rows_that_fit(const WindowedMap& map, const Target& target) {
  const int64_t map_bytes = *map.map_rows * *map.row_bytes;
  if (map_bytes <= target.l2_bytes) return 0;
  const int64_t most = std::min(target.l2_bytes / kMapShareOfL2, map_bytes / std::max<int64_t>(target.task_slots, 1));
  int64_t found = 0;
  for (int64_t count = 1; count <= *map.rows && map.rows_read(count) * *map.row_bytes <= most; ++count)
    if (*map.rows % count == 0) found = count;
  return found;
}

/// As many rows as fit or, in a map of open size, `kOpenRows`; 0 if that gains nothing: recomputing rows of overlapping
/// windows must not take longer than memory accesses would.
int64_t rows_of_block(const WindowedMap& map, const Target& target) {
  if (target.vector_bits == 0) return 0;
  const bool known = map.rows && map.map_rows && map.row_bytes;
  const int64_t open = map.rows ? std::gcd(*map.rows, kOpenRows) : kOpenRows;
  const int64_t count = known ? rows_that_fit(map, target) : open;
  const double again = static_cast<double>(std::max<int64_t>(map.span - map.step, 0)) * map.terms;
  return again <= target.memory_trip_cycles * target.fma_per_cycle * static_cast<double>(count * map.step) ? count : 0;
}

/// Whether one of the kernel's reductions is a convolution for which Winograd's algorithm would be chosen.
bool has_winograd(const Draft& draft) {
  const std::vector<Stmt> parts = statements_of(draft.tree.root());
  const std::vector<NestGroup> groups = nest_groups(parts);
  return std::any_of(groups.begin(), groups.end(), [&](const NestGroup& group) {
    if (!group.reduces) return false;
    const auto at = [&](size_t place) { return parts.begin() + static_cast<std::ptrdiff_t>(place); };
    return static_cast<bool>(choose_winograd(draft, group_of(draft.tree, {at(group.begin), at(group.end)})));
  });
}

Legal<int64_t> match_fused_conv_pool_tiling(const Draft& draft) {
  const std::optional<WindowedMap> map = windowed_map_of(draft.tree);
  RELAXC_FITS(map, "it does not reduce windows of a map that it computes itself");
  const int64_t rows = rows_of_block(*map, *draft.target);
  RELAXC_FITS(rows != 0, "the map stays in the cache, or blocks of it gain nothing");
  RELAXC_FITS(!has_winograd(draft), "its convolution uses Winograd, in blocks of its own");
  return rows;
}

struct BlocksOfWindows {
  int64_t rows = 1;

  std::string text() const { return fmt::format("{} rows of the pool at a time", rows); }
  Legal<> carry_out(Draft& draft) const {
    RELAXC_STEP(const std::vector<uint32_t> loops, apply(draft.tree, FusedConvPoolTiling{rows}));
    draft.blocks.clear();
    for (uint32_t loop : loops) draft.blocks.push_back({loop, 0});
    return Done{};
  }
};

Legal<BlocksOfWindows> plan_fused_conv_pool_tiling(const Draft&, const int64_t& rows) {
  return BlocksOfWindows{rows};
}

/// The cycles of all nests by whole vectors: blocks save memory traffic, not work.
double fused_conv_pool_tiling_cycles(const Draft& draft, const int64_t&) {
  const int64_t lanes = lanes_of(*draft.target, draft.tree.root());
  return cycles_of(draft.tree.root(), lanes, *draft.target) / static_cast<double>(std::max<int64_t>(1, lanes));
}

}  // namespace

std::span<const Strategy> fused_conv_pool_tiling_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "fused_conv_pool_tiling",
               .stage = Stage::kKernel,
               .priority = 10,
               .doc =
                   "Runs a pool after a convolution some rows at a time, each time after the rows of the feature map "
                   "that its windows cover.",
               .propose = propose<match_fused_conv_pool_tiling, kForExplanation<fused_conv_pool_tiling_cycles>,
                                  plan_fused_conv_pool_tiling>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
