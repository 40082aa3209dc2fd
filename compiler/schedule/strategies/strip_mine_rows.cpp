// strip_mine_rows.cpp: runs kernels whose nests are over rows for a few rows at a time.
//
// Attention, or a product after a norm, needs whole rows of buffers in between. In blocks of rows these stay in the
// second level of cache, and no buffer for all rows is needed. A block has several rows, since products are fast only
// if each loaded vector of keys or values serves a tile of them. If rows are long and a softmax is between two
// products, keys are divided into blocks as well, by the online softmax.
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

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr int64_t kMostBlockRows = 32;  ///< in a block: two tiles of products or more
constexpr int64_t kMostPartRows = 64;   ///< if only a part of each row is kept: its operands then serve all rows
constexpr int64_t kLeastBlockRows = 4;
constexpr int64_t kBetweenShareOfL2 = 2;  ///< buffers in between may take 1 / this of the second level
constexpr int64_t kUnknownRow = 1024;     ///< assumed elements of a row of unknown extent
/// The keys of a block. Its scores for 64 rows take 64 KB, a part of the second level of cache that leaves room for
/// their operands. With 12 heads of 64 and 2,048 queries and keys, blocks of 256 took 87.6 ms instead of 97.7 with
/// whole rows, and 22.3 instead of 23.3 with 1,024 (docs/performance.md); hence the minimum number of keys in
/// ScheduleOptions::online_softmax.
constexpr int64_t kKeysOfBlock = 256;

/// As many rows as keep the buffers in between in the second level of cache, in blocks of equal size if possible.
///
/// \param kept elements of each row that are kept at a time; 0 for whole rows
int64_t rows_of_block(const RowNests& nests, const Draft& draft, int64_t kept) {
  const Target& target = *draft.target;
  if (target.vector_bits == 0) return 1;  // nothing is loaded for several rows at once
  int64_t bytes = 0;
  for (const RowNests::Between& row : nests.between) {
    const int64_t elements = row.elements.value_or(kUnknownRow);
    bytes += (kept > 0 ? std::min(elements, kept) : elements) * row.element_bytes;
  }
  const int64_t most = std::clamp<int64_t>(target.l2_bytes / kBetweenShareOfL2 / std::max<int64_t>(bytes, 1),
                                           kLeastBlockRows, kept > 0 ? kMostPartRows : kMostBlockRows);
  const int64_t divisor = arith::divisor(arith::simplify(nests.rows), draft.tree.facts());
  for (int64_t rows = most; rows * 2 > most; --rows)
    if (divisor % rows == 0) return rows;
  const int64_t* all = nests.rows.constant();
  if (all == nullptr) return most;
  const int64_t blocks = (std::max<int64_t>(*all, 1) + most - 1) / most;
  return (std::max<int64_t>(*all, 1) + blocks - 1) / blocks;
}

Legal<RowNests> match_rows(const Draft& draft) {
  std::optional<RowNests> nests = row_nests_of(draft.tree);
  RELAXC_FITS(nests, "its nests are not of rows some of which are needed as a whole in between");
  return *std::move(nests);
}

struct BlocksOfRows {
  int64_t rows = 1, keys = 0;

  std::string text() const {
    return fmt::format("{} rows at a time", rows) + (keys == 0 ? "" : fmt::format(", {} keys at a time", keys));
  }
  Legal<> carry_out(Draft& draft) const {
    RELAXC_STEP(const std::vector<uint32_t> loops, apply(draft.tree, StripMineRows{rows}));
    if (keys != 0) {
      const Expr all = softmax_keys(draft.tree, loops.front());
      RELAXC_FITS(all && arith::bounds(all, draft.tree.facts()).upper >= draft.options->online_softmax,
                  "rows are of something else than a softmax, or have few keys");
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

Legal<BlocksOfRows> plan_rows(const Draft& draft, const RowNests& nests) {
  return BlocksOfRows{rows_of_block(nests, draft, 0)};
}

Legal<RowNests> match_keys(const Draft& draft) {
  RELAXC_FITS(draft.options->online_softmax > 0, "the online softmax is turned off");
  return match_rows(draft);
}

Legal<BlocksOfRows> plan_keys(const Draft& draft, const RowNests& nests) {
  return BlocksOfRows{rows_of_block(nests, draft, kKeysOfBlock), kKeysOfBlock};
}

/// The cycles of all nests by whole vectors: blocks save memory traffic, not work.
double row_nests_cycles(const Draft& draft, const RowNests&) {
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
               .propose = propose<match_keys, kForExplanation<row_nests_cycles>, plan_keys>},
      Strategy{.name = "strip_mine_rows",
               .stage = Stage::kKernel,
               .priority = 20,
               .doc = "A kernel over rows, some of which are needed as a whole in between, runs for a few rows at "
                      "a time, with memory only for those.",
               .propose = propose<match_rows, kForExplanation<row_nests_cycles>, plan_rows>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
