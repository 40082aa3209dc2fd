// strip_mine_rows.cpp: kernels whose nests are over rows, a few rows at a time.
//
// Attention, or a product behind a norm, needs whole rows of what lies in between. In blocks of rows that stays in a
// cache, and no buffer of the whole of it is needed. Where rows are long and a softmax stands between two products,
// keys are taken in blocks as well, by the online softmax.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/schedule/primitives/online_softmax.h"
#include "compiler/schedule/primitives/strip_mine_rows.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {
namespace {

/// Rows of a block, where rows stay whole.
Legal<int64_t> match_rows(const Draft& draft) {
  const int64_t rows = rows_of_block(draft.tree, *draft.target);
  RELAXC_FITS(rows != 0, "its nests are not of rows of which some are needed whole in between");
  return rows;
}

struct BlocksOfRows {
  int64_t rows = 1, keys = 0;

  std::string text() const {
    return fmt::format("{} rows at a time", rows) + (keys == 0 ? "" : fmt::format(", {} keys at a time", keys));
  }
  Legal<> carry_out(Draft& draft) const {
    RELAXC_STEP(const std::vector<uint32_t> loops, apply(draft.tree, StripMineRows{rows}));
    if (keys != 0) {
      const int64_t fits = keys_of_block(draft.tree, loops.front(), draft.options->online_softmax);
      RELAXC_FITS(fits == keys, "rows are of something else than a softmax, or have few keys");
    }
    for (uint32_t loop : loops) {
      draft.blocks.push_back({loop, 0});
      if (keys == 0) continue;
      RELAXC_STEP(draft.blocks.back().keys, apply(draft.tree, OnlineSoftmax{loop, keys}));
    }
    draft.in_blocks = true;
    return Done{};
  }
};

Legal<BlocksOfRows> plan_rows(const Draft&, const int64_t& rows) {
  return BlocksOfRows{rows};
}

Legal<int64_t> match_keys(const Draft& draft) {
  RELAXC_FITS(draft.options->online_softmax > 0, "the online softmax is turned off");
  RELAXC_LEGAL(match_rows(draft));
  return rows_of_block(draft.tree, *draft.target, kKeysOfBlock);
}

Legal<BlocksOfRows> plan_keys(const Draft&, const int64_t& rows) {
  return BlocksOfRows{rows, kKeysOfBlock};
}

/// Of all nests by whole vectors: blocks save memory, and no work.
double vector_cycles(const Draft& draft, const int64_t&) {
  const int64_t lanes = lanes_of(*draft.target, draft.tree.root());
  return cycles_of(draft.tree.root(), lanes, *draft.target) / static_cast<double>(std::max<int64_t>(1, lanes));
}

}  // namespace

std::span<const Strategy> strip_mine_rows_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "online_softmax",
               .stage = Stage::kKernel,
               .priority = 30,
               .doc = "A kernel over rows of long softmaxes runs for a few rows and a block of keys at a time, "
                      "relative to the maximum so far. Changes the order of sums and their rounding.",
               .propose = propose<match_keys, kToExplain<vector_cycles>, plan_keys>},
      Strategy{.name = "strip_mine_rows",
               .stage = Stage::kKernel,
               .priority = 20,
               .doc = "A kernel over rows of which some are needed whole in between runs for a few rows at a time, "
                      "with memory for those alone.",
               .propose = propose<match_rows, kToExplain<vector_cycles>, plan_rows>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
