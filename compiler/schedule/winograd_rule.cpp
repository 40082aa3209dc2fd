// winograd_rule.cpp: when convolutions are done by minimal filtering, and in blocks of which size.
//
// The problem: a filter of 3x3 multiplies each element nine times. Winograd's minimal filtering F(m, 3) gives m results
// of three taps by m + 2 multiplications instead of 3 m.
//
// The method: it is applied along columns alone, from row to row; along rows the three taps stay. F(4, 3) then halves
// the multiplications for one and a half times the data, its transforms are sums of whole rows, which lie in vectors as
// they are, and errors grow by 22/3 in their bound instead of by its square. In both dims the usual nested form saves
// four times, for 2.25 times the data, transforms of elements that lie four apart, and tiles that narrow images do not
// fill. Blocks of tiles go through transform, sums and inverse while they lie in the second level of cache; the sums
// are an ordinary reduction over the points' matrices, and what a kernel does behind the convolution is done to the
// rows as they come out. A model of cycles decides between this and the direct form.
//
// The bound (winograd.h) must stay below a thousandth of the largest sum of sizes that there may be; F(2, 3), whose
// growth is 8/3 for a third of the terms in each sum, is within the bound of the direct form. docs/performance.md has
// what it gained.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/schedule/filter.h"
#include "compiler/schedule/rule_parts.h"

namespace relaxc::schedule {
namespace {

constexpr double kTolerance = 1e-3;   ///< of max |w| * max |x| * terms
constexpr double kLeastGain = 1.15;   ///< of the model's cycles
constexpr double kBytesPerCycle = 8;  ///< from beyond the second level of cache
constexpr double kBytesAgain = 16;    ///< the same of what was read a block ago
constexpr int64_t kLeastShares = 4;   ///< for several cores; a single one has loops of its own to share

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
    places = std::min(places, by_channels * (1 + kScattered / terms));
    return count(f_.outputs * f_.channels * 3 * f_.column_taps) * places / 2 + streamed(weights) / 2;
  }
  double by_blocks(const MinimalFilter& by, int64_t tiles) const {
    int64_t pitch = f_.columns + f_.column_taps - 1, places = (tiles - 1) * pitch + f_.columns;
    double points = count(by.points()), results = count(by.results);
    double blocks = std::ceil(count(f_.rows) / count(tiles * by.results));
    double sums = points * count(f_.outputs * f_.channels * f_.column_taps) * vectors(places) / 2;
    double data = count(f_.channels * tiles) * vectors(pitch) * 4 * points;
    double result = count(f_.outputs * tiles) * vectors(f_.columns) * (3 * points + 2 * results);
    double scratch = scratch_bytes(by, tiles);
    double spilled = scratch > count(target_.l2_bytes) / 2 ? 2 * scratch / kBytesPerCycle : 0;
    double weights = streamed(weight_bytes(by)) * (1 + (blocks - 1) * kBytesPerCycle / kBytesAgain);
    return blocks * (sums + data + result + spilled) + weights;
  }
  double scratch_bytes(const MinimalFilter& by, int64_t tiles) const {
    return 4.0 * count(by.points() * (f_.channels + f_.outputs) * tiles * (f_.columns + f_.column_taps - 1));
  }
  /// As much as stays in the cache; more where weights are more, which are read anew for each block.
  double most_scratch(const MinimalFilter& by) const { return std::max(count(target_.l2_bytes), weight_bytes(by)); }

 private:
  static double count(int64_t n) { return static_cast<double>(n); }
  double weight_bytes(const MinimalFilter& by) const {
    return 4.0 * count(by.points() * f_.outputs * f_.channels * f_.column_taps);
  }
  double vectors(int64_t elements) const { return count((elements + lanes_ - 1) / lanes_); }
  double streamed(double bytes) const { return bytes > count(target_.l2_bytes) / 2 ? bytes / kBytesPerCycle : 0; }

  const RowFilter& f_;
  const Target& target_;
  const int64_t lanes_;
};

/// How a convolution is done; no tiles: directly.
struct Plan {
  int64_t results = 0, tiles = 0;
};

Plan best_plan(const RowFilter& filter, const Target& target, int64_t most_results) {
  const Costs costs(filter, target);
  Plan best;
  double least = costs.direct() / kLeastGain;
  for (int64_t results : {2, 4}) {
    if (results > most_results) continue;
    const MinimalFilter by = minimal_filter(results);
    double terms = static_cast<double>(filter.channels * filter.column_taps);
    if (by.growth() * (terms + 16) * 0x1p-24 > kTolerance) continue;
    int64_t all = (filter.rows + results - 1) / results;
    for (int64_t tiles = 1; tiles <= all; ++tiles) {
      if (tiles > 1 && costs.scratch_bytes(by, tiles) > costs.most_scratch(by)) break;
      bool shared = tiles == all || (all + tiles - 1) / tiles >= std::min(kLeastShares, all);
      if (!shared) continue;
      if (double cycles = costs.by_blocks(by, tiles); cycles < least) least = cycles, best = {results, tiles};
    }
  }
  return best;
}

}  // namespace

namespace {

void vectorize_columns(Schedule& s, uint32_t loop, const Target& target) {
  if (uint32_t lanes = s.split(loop, target.lanes(32), tail_of(target)).inner; lanes != 0) s.vectorize(lanes);
}

}  // namespace

bool schedule_winograd(Schedule& s, const ReductionGroup& group, const Target& target, int64_t most_results,
                       Choices& choices) {
  if (most_results < 2 || !s.may_allocate() || target.lanes(32) < 4) return false;
  std::optional<RowFilter> filter = row_filter_of(s, group);
  Plan plan = filter ? best_plan(*filter, target, most_results) : Plan{};
  if (plan.tiles == 0) return false;
  const uint32_t block = analysis::as_nest(group.reduction).block->id;
  s.allow_reassociation(block);
  FilterNests nests = s.minimal_filter(block, plan.results, plan.tiles, target.has_fma);
  vectorize_columns(s, nests.data_columns, target);
  vectorize_columns(s, nests.result_columns, target);
  size_t packed = s.packed().size();
  s.focus({nests.sums});
  const std::optional<ReductionGroup> sums = group_in(s);
  return sums && schedule_reduction(s, *sums, target, true, choices) && s.packed().size() == packed + 1;
}

}  // namespace relaxc::schedule
