// row_fusion.cpp: fuses nests over the same rows, which then run row by row.
//
// A softmax is four nests: the maximum of each row, the exponentials, their sum, the quotients; a norm is three. One
// after another, each goes through the whole tensor, which by then has left the cache. If the outermost loops of two
// nests have the same extent, and nothing that the second reads or writes in one iteration is accessed by the first in
// another, both bodies can be in one loop; then their own outermost loops are examined in the same way.
//
// A short row ends before its maximum or its sum is available, and the next nest must wait. So if rows are short, a few
// of them run each step together: the rows of a step do not wait for each other.
//
// Iterations compute the same as before, so results have the same bits, and one parallel loop serves all nests.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/schedule/primitives/merge_rows.h"
#include "compiler/schedule/primitives/strip_mine_nests.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

using tir::For;

namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr double kShort = 10;   ///< a row is short if its time is less than this times the wait for its sums
constexpr int kMostNests = 16;  ///< in one loop, which is examined again for each; no norm has as many

/// Enough rows for their sums to hide the latency of an addition; 1 for one after another. A known number of rows is
/// divided into equal steps, so that all bounds stay constants.
int64_t rows_of_step(Expr extent, const Target& target) {
  const auto most = static_cast<int64_t>(std::ceil(target.fma_latency));
  const int64_t* known = extent.constant();
  if (known == nullptr) return most;
  if (*known <= most) return 1;
  int64_t count = most;
  while (*known % count != 0) --count;
  return count;
}

/// Otherwise an iteration is an element and not a row, so there is no sum to wait for.
bool has_loops(Stmt s) {
  bool found = false;
  tir::for_each_stmt(s, [&](Stmt inner) { found |= inner.as<For>() != nullptr; });
  return found;
}

/// In the innermost loop around several nests, runs a few iterations of each nest at a time if these are short.
Legal<> take_steps(Tree& s, uint32_t id, const Target& target) {
  const For* loop = &s.loop(id);
  for (Stmt body = loop->body; body.as<tir::Seq>() == nullptr;) {
    if (const auto* view = body.as<tir::View>()) {
      body = view->body;
      continue;
    }
    loop = body.as<For>();
    if (loop == nullptr) return Done{};
    body = loop->body;
  }
  int64_t count = rows_of_step(loop->extent, target);
  const bool is_short = nanoseconds(loop->body, target) <= kShort * target.row_wait_nanoseconds;
  if (count > 1 && has_loops(loop->body) && is_short) RELAXC_LEGAL(apply(s, StripMineNests{loop->id, count}));
  return Done{};
}

Legal<Done> match_row_fusion(const Draft& draft) {
  const auto& loops = draft.row_loops;
  const bool any = std::adjacent_find(loops.begin(), loops.end(),
                                      [](uint32_t a, uint32_t b) { return a != 0 && b != 0; }) != loops.end();
  RELAXC_FITS(any, "no two nests over rows are consecutive");
  return Done{};
}

/// Merges each nest into the loop before it, if that is legal at that time.
struct FusedRows {
  std::vector<uint32_t> loops;  ///< row loops of consecutive nests, in order; 0 for other nests

  std::string text() const { return fmt::format("{} nests, those over the same rows in one loop", loops.size()); }
  Legal<> carry_out(Draft& draft) const {
    uint32_t last = 0;
    int nests = 0;  // number of nests in `last`
    auto finish = [&]() -> Legal<> { return nests > 1 ? take_steps(draft.tree, last, *draft.target) : Done{}; };
    for (uint32_t loop : loops) {
      if (last != 0 && loop != 0 && nests < kMostNests && apply(draft.tree, MergeRows{last, loop})) {
        ++nests;
        continue;
      }
      RELAXC_LEGAL(finish());
      last = loop, nests = 1;
    }
    return finish();
  }
};

/// Merging does not change the work; it saves memory traffic.
double row_fusion_cycles(const Draft& draft, const Done&) {
  return cycles_of(draft.tree.root(), lanes_of(*draft.target, draft.tree.root()), *draft.target);
}

Legal<FusedRows> plan_row_fusion(const Draft& draft, const Done&) {
  return FusedRows{draft.row_loops};
}

}  // namespace

std::span<const Strategy> row_fusion_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "row_fusion",
               .stage = Stage::kRows,
               .priority = 10,
               .doc =
                   "Fuses consecutive nests over the same rows into one loop over rows, or over a few rows at a time, "
                   "where no row depends on another. Keeps bits.",
               .propose = propose<match_row_fusion, kForExplanation<row_fusion_cycles>, plan_row_fusion>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
