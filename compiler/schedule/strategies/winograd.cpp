// winograd.cpp: decides when convolutions use Winograd's algorithm, and with blocks of what size.
//
// The problem: a filter of 3x3 multiplies each element nine times. Winograd's F(m, 3) gives m results
// of three taps by m + 2 multiplications instead of 3 m.
//
// The method: along columns, from row to row, transforms are sums of whole rows, which are in vectors as they are: F(4,
// 3) halves the multiplications for one and a half times the data. The nested form transforms along rows as well: it
// needs a quarter of the multiplications for 2.25 times the data and weights, and its error bound grows by the square.
// There, rows that were transformed along columns are read a tile's width apart, and results are shuffled together
// again. Blocks of tiles go through transform, sums and inverse in the second level of cache; the sums are an ordinary
// reduction over the points' matrices, and consumers of the convolution are computed on its rows. A model of cycles
// decides between all of these and the direct form.
//
// If the size of an image is open, nothing is chosen at run time: rows of blocks are as long as the image is wide, so
// that small images waste no lanes. The model is in parts/winograd_tiles.cpp.
#include <fmt/format.h>

#include <array>

#include "compiler/schedule/primitives/drop_unit_loop.h"
#include "compiler/schedule/primitives/focus_nests.h"
#include "compiler/schedule/primitives/peel_ends.h"
#include "compiler/schedule/primitives/reassociate.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/vectorize.h"
#include "compiler/schedule/primitives/winograd.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/parts/winograd_tiles.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {
namespace {

Legal<> vectorize_columns(Tree& s, uint32_t loop, const Target& target) {
  RELAXC_STEP(const SplitLoops made, apply(s, Split{loop, target.lanes(32), tail_of(target)}));
  if (made.inner != 0) RELAXC_LEGAL(apply(s, Vectorize{made.inner}));
  if (PeelEnds{made.outer}.legal(s)) RELAXC_LEGAL(apply(s, PeelEnds{made.outer}));
  return Done{};
}

/// Splits into whole vectors and a rest whose mask is known, so that joining and separating lanes become shuffles.
Legal<> vectorize_across(Tree& s, uint32_t loop, const Target& target) {
  RELAXC_STEP(SplitLoops whole, apply(s, Split{loop, target.lanes(32), Tail::kPeel}));
  if (whole.inner != 0) RELAXC_LEGAL(apply(s, Vectorize{whole.inner}));
  if (whole.tail == 0) return Done{};
  RELAXC_STEP(SplitLoops rest, apply(s, Split{whole.tail, target.lanes(32), tail_of(target)}));
  if (rest.inner == 0) return Done{};
  RELAXC_LEGAL(apply(s, Vectorize{rest.inner}));
  RELAXC_LEGAL(apply(s, DropUnitLoop{rest.outer}));
  return Done{};
}

// ---- the plan

Legal<WinogradChoice> match_winograd(const Draft& draft) {
  return choose_winograd(draft, draft.group);
}

double winograd_cycles(const Draft&, const WinogradChoice& choice) {
  return choice.cycles;
}

struct WinogradTiles {
  uint32_t block = 0;
  FilterTiles tiles;

  std::string text() const {
    const std::string along = tiles.in_both_dims() ? fmt::format(" and F({}, 3) along rows", tiles.columns) : "";
    const std::string width = tiles.width != 0 ? fmt::format(" by {} places", tiles.width) : "";
    return fmt::format("F({}, 3){} in blocks of {} tiles{}", tiles.rows, along, tiles.count, width);
  }
  Legal<> carry_out(Draft& draft) const {
    Tree& s = draft.tree;
    const Target& target = *draft.target;
    RELAXC_LEGAL(apply(s, Reassociate{block}));
    RELAXC_STEP(const FilterNests nests, apply(s, Winograd{block, tiles.rows, tiles.columns, tiles.count, tiles.width,
                                                           target.has_fma, target.l1_period_bytes, target.lanes(32)}));
    if (tiles.width != 0) draft.open_blocks.push_back(nests.blocks);
    for (uint32_t loop : nests.columns) RELAXC_LEGAL(vectorize_columns(s, loop, target));
    for (uint32_t loop : nests.across) RELAXC_LEGAL(vectorize_across(s, loop, target));
    const size_t packed = s.packed().size();
    RELAXC_LEGAL(apply(s, FocusNests{{{nests.sums}}}));
    draft.group = group_in(s);
    RELAXC_LEGAL(run_stage(Stage::kNests, draft));
    RELAXC_FITS(s.packed().size() == packed + 1, "the filters at their points could not be packed");
    return Done{};
  }
};

Legal<WinogradTiles> plan_winograd(const Draft&, const WinogradChoice& choice) {
  return WinogradTiles{choice.block, choice.tiles};
}

}  // namespace

std::span<const Strategy> winograd_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "winograd",
               .stage = Stage::kNests,
               .priority = 70,
               .doc = "A convolution by constant filters of three rows, one step apart, with fewer multiplications "
                      "by Winograd's F(m, 3), where the machine model says that it is "
                      "faster. Changes the order of the sums and their rounding.",
               .propose = propose<match_winograd, winograd_cycles, plan_winograd>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
