// winograd.cpp: when convolutions are done by minimal filtering, and in blocks of which size.
//
// The problem: a filter of 3x3 multiplies each element nine times. Winograd's minimal filtering F(m, 3) gives m results
// of three taps by m + 2 multiplications instead of 3 m.
//
// The method: along columns, from row to row, transforms are sums of whole rows, which lie in vectors as they are: F(4,
// 3) halves the multiplications for one and a half times the data. Along rows as well it is the nested form, which
// takes a quarter of them for 2.25 times the data and weights, and errors that grow by the square in their bound: rows
// that were transformed along columns are read a tile's width apart, and sums are shuffled back between each other.
// Blocks of tiles go through transform, sums and inverse while they lie in the second level of cache; the sums are an
// ordinary reduction over the points' matrices, and what a kernel does behind the convolution is done to the rows as
// they come out. A model of cycles decides between all of them and the direct form.
//
// The bound (winograd_transform.h) must stay below a thousandth of the largest sum of sizes that there may be; F(2, 3),
// whose growth is 8/3 for a third of the terms in each sum, is within the bound of the direct form. docs/performance.md
// has what it gained.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/schedule/analysis/row_filter.h"
#include "compiler/schedule/primitives/drop_unit_loop.h"
#include "compiler/schedule/primitives/nest.h"
#include "compiler/schedule/primitives/reassociate.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/vectorize.h"
#include "compiler/schedule/primitives/winograd.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"
#include "compiler/schedule/winograd_transform.h"

namespace relaxc::schedule {
namespace {

constexpr double kTolerance = 1e-3;  ///< of max |w| * max |x| * terms
constexpr double kLeastGain = 1.15;  ///< of the model's cycles
constexpr double kMostWeights = 5;   ///< at pairs of points, by the second level of cache
constexpr double kMostPlanes = 2;    ///< scratch of pairs of points, by the second level of cache
constexpr double kStays = 0.5;       ///< of the second level of cache: what is read again from there
constexpr double kOfData = 4;        ///< cycles of a vector of data at a point
constexpr double kOfSums = 3;        ///< cycles of a vector of sums at a point
constexpr double kOfResults = 2;     ///< cycles of a vector of results
constexpr int64_t kLeastShares = 4;  ///< for several cores; a single one has loops of its own to share

class Costs {
 public:
  Costs(const RowFilter& filter, const Target& target) : f_(filter), target_(target), lanes_(target.lanes(32)) {}

  /// Cycles for one image. A filter that slides along rows alone sees rows and columns as one axis; places that do not
  /// fill vectors leave them to output channels.
  double direct() const {
    double weights = 4.0 * count(f_.outputs * f_.channels) * 3 * count(f_.column_taps);
    double terms = count(f_.channels * 3 * f_.column_taps);
    double places = f_.column_taps == 1 ? vectors(f_.rows * f_.columns) : count(f_.rows) * vectors(f_.columns);
    double by_channels = count(f_.rows * f_.columns) * vectors(f_.outputs) / count(f_.outputs);
    places = std::min(places, by_channels * (1 + scattered_terms(target_) / terms));
    return count(f_.outputs * f_.channels * 3 * f_.column_taps) * places / target_.fma_per_cycle +
           streamed(weights) / 2;
  }
  double by_blocks(const FilterTiles& tiles) const {
    double points = count(points_of(tiles.rows)), results = count(tiles.rows);
    int64_t columns = f_.columns + f_.column_taps - 1;
    double blocks = std::ceil(count(f_.rows) / count(tiles.count * tiles.rows));
    int64_t last = tiles.in_both_dims() ? pitch(tiles) : f_.columns;
    double sums = weight_bytes(tiles) / 4 * vectors((tiles.count - 1) * pitch(tiles) + last) / target_.fma_per_cycle;
    double data = count(f_.channels * tiles.count) * vectors(columns) * kOfData * points;
    double result = count(f_.outputs * tiles.count) * vectors(f_.columns) * (kOfSums * points + kOfResults * results);
    if (tiles.in_both_dims()) {
      double pairs = points * count(points_of(tiles.columns)) * vectors(pitch(tiles)) * count(tiles.count);
      data += count(f_.channels) * pairs * target_.interleave_cycles;
      result += count(f_.outputs) * pairs * target_.interleave_cycles;
    }
    double scratch = scratch_bytes(tiles);
    double spilled = scratch > stays() ? 2 * scratch / target_.memory_bytes_per_cycle : 0;
    const double again = target_.memory_bytes_per_cycle / target_.reread_bytes_per_cycle;
    double weights = streamed(weight_bytes(tiles)) * (1 + (blocks - 1) * again);
    return blocks * (sums + data + result + spilled) + weights;
  }
  double scratch_bytes(const FilterTiles& tiles) const {
    int64_t points = points_of(tiles.rows) * (tiles.in_both_dims() ? points_of(tiles.columns) : 1);
    return 4.0 * count(points * (f_.channels + f_.outputs) * tiles.count * pitch(tiles));
  }
  /// As much as stays in the cache; more where weights are more, which are read anew for each block. Planes of pairs of
  /// points, which are many, are not to leave it.
  double most_scratch(const FilterTiles& tiles) const {
    if (tiles.in_both_dims()) return kMostPlanes * count(target_.l2_bytes);
    return std::max(count(target_.l2_bytes), weight_bytes(tiles));
  }
  /// Whether weights at pairs of points are so few that reading them takes less than multiplying by them.
  bool has_few_weights(const FilterTiles& tiles) const {
    return !tiles.in_both_dims() || weight_bytes(tiles) <= kMostWeights * count(target_.l2_bytes);
  }

 private:
  static double count(int64_t n) { return static_cast<double>(n); }
  static int64_t points_of(int64_t results) { return results + WinogradTransform::kTaps - 1; }
  int64_t pitch(const FilterTiles& tiles) const {
    if (tiles.in_both_dims()) return (f_.columns + tiles.columns - 1) / tiles.columns;
    return f_.columns + f_.column_taps - 1;
  }
  double weight_bytes(const FilterTiles& tiles) const {
    int64_t along = tiles.in_both_dims() ? points_of(tiles.columns) : f_.column_taps;
    return 4.0 * count(points_of(tiles.rows) * along * f_.outputs * f_.channels);
  }
  double vectors(int64_t elements) const { return count((elements + lanes_ - 1) / lanes_); }
  double streamed(double bytes) const { return bytes > stays() ? bytes / target_.memory_bytes_per_cycle : 0; }
  double stays() const { return count(target_.l2_bytes) * kStays; }

  const RowFilter& f_;
  const Target& target_;
  const int64_t lanes_;
};

bool within_tolerance(const RowFilter& filter, const FilterTiles& tiles) {
  double growth = winograd_transform(tiles.rows).growth();
  int64_t terms = filter.channels * filter.column_taps + WinogradTransform::kSteps;
  if (tiles.in_both_dims()) {
    growth *= winograd_transform(tiles.columns).growth();
    terms = filter.channels + 2 * WinogradTransform::kSteps;
  }
  return growth * static_cast<double>(terms) * 0x1p-24 <= kTolerance;
}

struct BestTiles {
  FilterTiles tiles;  ///< no tiles: directly
  double cycles = 0;
};

BestTiles best_tiles(const RowFilter& filter, const Target& target, int64_t most_results) {
  const Costs costs(filter, target);
  FilterTiles best;
  double least = costs.direct() / kLeastGain;
  auto consider = [&](FilterTiles tiles) {
    if (tiles.rows > most_results || tiles.columns > most_results || !within_tolerance(filter, tiles)) return;
    if (!costs.has_few_weights(tiles)) return;
    int64_t all = (filter.rows + tiles.rows - 1) / tiles.rows;
    for (tiles.count = 1; tiles.count <= all; ++tiles.count) {
      if (tiles.count > 1 && costs.scratch_bytes(tiles) > costs.most_scratch(tiles)) break;
      bool shared = tiles.count == all || (all + tiles.count - 1) / tiles.count >= std::min(kLeastShares, all);
      if (!shared) continue;
      if (double cycles = costs.by_blocks(tiles); cycles < least) least = cycles, best = tiles;
    }
  };
  for (int64_t rows : {2, 4}) {
    consider({.rows = rows});
    for (int64_t columns : {2, 4})
      if (filter.column_taps == WinogradTransform::kTaps) consider({.rows = rows, .columns = columns});
  }
  return {best, least};
}

Legal<> vectorize_columns(Tree& s, uint32_t loop, const Target& target) {
  RELAXC_STEP(const SplitLoops made, apply(s, Split{loop, target.lanes(32), tail_of(target)}));
  if (made.inner != 0) RELAXC_LEGAL(apply(s, Vectorize{made.inner}));
  return Done{};
}

/// Whole vectors, and a rest whose mask is known: lanes that are put together or apart are then shuffled.
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

struct FilteredConv {
  uint32_t block = 0;
  BestTiles best;
};

Legal<FilteredConv> match(const Draft& draft) {
  const Target& target = *draft.target;
  RELAXC_FITS(draft.options->winograd >= 2, "minimal filtering is turned off");
  RELAXC_FITS(!draft.in_blocks && draft.tree.may_allocate(), "there is no scratch memory");
  RELAXC_FITS(target.lanes(32) >= 4, "vectors are too short");
  const std::optional<ReductionGroup>& group = draft.group;
  RELAXC_FITS(group, "it is no reduction with its consumers");
  const std::optional<RowFilter> filter = row_filter_of(draft.tree, *group);
  RELAXC_FITS(filter, "it is no convolution of float32 by constant filters of three rows, one step apart");
  const BestTiles best = best_tiles(*filter, target, draft.options->winograd);
  RELAXC_FITS(best.tiles.count != 0, "directly it takes no longer, or minimal filtering rounds too much");
  return FilteredConv{analysis::as_nest(group->reduction).block->id, best};
}

double cycles(const Draft&, const FilteredConv& conv) {
  return conv.best.cycles;
}

struct WinogradTiles {
  uint32_t block = 0;
  FilterTiles tiles;

  std::string text() const {
    const std::string along = tiles.in_both_dims() ? fmt::format(" and F({}, 3) along rows", tiles.columns) : "";
    return fmt::format("F({}, 3){} in blocks of {} tiles", tiles.rows, along, tiles.count);
  }
  Legal<> carry_out(Draft& draft) const {
    Tree& s = draft.tree;
    const Target& target = *draft.target;
    RELAXC_LEGAL(apply(s, Reassociate{block}));
    RELAXC_STEP(const FilterNests nests,
                apply(s, Winograd{block, tiles.rows, tiles.columns, tiles.count, target.has_fma}));
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

Legal<WinogradTiles> plan(const Draft&, const FilteredConv& conv) {
  return WinogradTiles{conv.block, conv.best.tiles};
}

}  // namespace

std::span<const Strategy> winograd_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "winograd",
               .stage = Stage::kNests,
               .priority = 70,
               .doc = "A convolution by constant filters of three rows, one step apart, done with fewer "
                      "multiplications by Winograd's minimal filtering F(m, 3), where the model says that it is "
                      "quicker. Changes the order of the sums and their rounding.",
               .propose = propose<match, cycles, plan>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
