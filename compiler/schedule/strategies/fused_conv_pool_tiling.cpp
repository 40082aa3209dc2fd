// fused_conv_pool_tiling.cpp: runs a convolution and the pool of its result by blocks of rows.
//
// The map between the two then never reaches memory. Winograd convolutions have blocks of their own and save more than
// memory takes: a kernel that has one is not cut into blocks.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/nest_groups.h"
#include "compiler/schedule/primitives/fused_conv_pool_tiling.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {
namespace {

/// What strategies for nests see of the kernel where this group of its parts is in focus. No step is taken.
Draft view_of(const Draft& draft, const std::vector<Stmt>& parts, const NestGroup& group) {
  Draft view = draft;
  const auto at = [&](size_t place) { return parts.begin() + static_cast<std::ptrdiff_t>(place); };
  view.tree.take_focus({at(group.begin), at(group.end)});
  view.group = group_in(view.tree);
  return view;
}

/// Whether the strategy of that name fits one of the kernel's reductions.
bool fits_some_reduction(const Draft& draft, std::string_view name) {
  const std::span<const Strategy> all = strategies();
  const auto row = std::find_if(all.begin(), all.end(), [&](const Strategy& one) { return one.name == name; });
  const std::vector<Stmt> parts = statements_of(draft.tree.root());
  const std::vector<NestGroup> groups = nest_groups(parts);
  return std::any_of(groups.begin(), groups.end(), [&](const NestGroup& group) {
    return group.reduces && static_cast<bool>(row->propose(view_of(draft, parts, group)));
  });
}

Legal<int64_t> match(const Draft& draft) {
  const int64_t rows = rows_of_window_block(draft.tree, *draft.target);
  RELAXC_FITS(rows != 0, "it does not reduce windows of a map that it computes itself, or blocks gain nothing");
  RELAXC_FITS(!fits_some_reduction(draft, "winograd"),
              "its convolution goes by minimal filtering, in blocks of its own");
  return rows;
}

struct BlocksOfWindows {
  int64_t rows = 1;

  std::string text() const { return fmt::format("{} rows of the pool at a time", rows); }
  Legal<> carry_out(Draft& draft) const {
    RELAXC_STEP(const uint32_t loop, apply(draft.tree, FusedConvPoolTiling{rows}));
    draft.blocks = {{loop, 0}};
    return Done{};
  }
};

Legal<BlocksOfWindows> plan(const Draft&, const int64_t& rows) {
  return BlocksOfWindows{rows};
}

/// Of all nests by whole vectors: blocks save memory, and no work.
double vector_cycles(const Draft& draft, const int64_t&) {
  const int64_t lanes = lanes_of(*draft.target, draft.tree.root());
  return cycles_of(draft.tree.root(), lanes, *draft.target) / static_cast<double>(std::max<int64_t>(1, lanes));
}

}  // namespace

std::span<const Strategy> fused_conv_pool_tiling_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "fused_conv_pool_tiling",
               .stage = Stage::kKernel,
               .priority = 10,
               .doc = "A pool behind a convolution runs for some rows at a time, after the rows of the map that its "
                      "windows cover.",
               .propose = propose<match, kToExplain<vector_cycles>, plan>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
