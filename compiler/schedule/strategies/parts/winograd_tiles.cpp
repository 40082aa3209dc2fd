// winograd_tiles.cpp: see winograd_tiles.h.
//
// Where the size of an image is open, blocks are of some tiles by a width that scratch memory decides, and the model is
// asked for images of several sizes.
//
// The bound (winograd_transform.h) must stay below a thousandth of the largest sum of sizes that there may be; F(2, 3),
// whose growth is 8/3 for a third of the terms in each sum, is within the bound of the direct form. docs/performance.md
// has what it gained.
#include "compiler/schedule/strategies/parts/winograd_tiles.h"

#include <algorithm>
#include <cmath>

#include "compiler/schedule/analysis/row_filter.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/winograd_transform.h"

namespace relaxc::schedule {
namespace {

// Judgement: no property of a machine says these.
constexpr double kTolerance = 1e-3;  ///< of max |w| * max |x| * terms
constexpr double kLeastGain = 1.15;  ///< of the model's cycles
constexpr double kMostWeights = 5;   ///< at pairs of points, by the second level of cache
constexpr double kMostPlanes = 2;    ///< scratch of pairs of points, by the second level of cache
constexpr double kStays = 0.5;       ///< of the second level of cache: what is read again from there
constexpr int64_t kLeastShares = 4;  ///< for several cores; a single one has loops of its own to share

constexpr int64_t kOpenTiles = 4;         ///< of a block where the size of the image is open: few, to share and to end
constexpr int64_t kMostOpenColumns = 64;  ///< of a block, the same
constexpr int64_t kLeastWidth = 8;        ///< what the most places of a row are a multiple of
constexpr int64_t kOpenSizes[] = {14, 28, 56, 112};  ///< what an open extent may be

/// Rows and columns of the result.
struct ImageSize {
  int64_t rows = 0, columns = 0;
};

class Costs {
 public:
  Costs(const RowFilter& filter, ImageSize image, const Target& target)
      : f_(filter), image_(image), target_(target), lanes_(target.lanes(32)) {}

  /// Cycles for one image. A filter that slides along rows alone sees rows and columns as one axis; places that do not
  /// fill vectors leave them to output channels, where it is known how many there are.
  double direct() const {
    double weights = 4.0 * count(f_.outputs * f_.channels) * 3 * count(f_.column_taps);
    double terms = count(f_.channels * 3 * f_.column_taps);
    double places =
        f_.column_taps == 1 ? vectors(image_.rows * image_.columns) : count(image_.rows) * vectors(image_.columns);
    double by_channels = count(image_.rows * image_.columns) * vectors(f_.outputs) / count(f_.outputs);
    if (!f_.is_open()) places = std::min(places, by_channels * (1 + scattered_terms(target_) / terms));
    return count(f_.outputs * f_.channels * 3 * f_.column_taps) * places / target_.fma_per_cycle +
           streamed(weights) / 2;
  }
  double by_blocks(const FilterTiles& tiles) const {
    double points = count(points_of(tiles.rows)), results = count(tiles.rows);
    int64_t columns = image_.columns + f_.column_taps - 1;
    double blocks = count((image_.rows + tiles.rows - 1) / tiles.rows) / count(tiles.count);
    if (!f_.is_open()) blocks = std::ceil(blocks);  // the last block of an open image has the tiles that are left
    int64_t last = tiles.in_both_dims() ? pitch(tiles) : image_.columns;
    double sums = weight_bytes(tiles) / 4 * vectors((tiles.count - 1) * pitch(tiles) + last) / target_.fma_per_cycle;
    double data = count(f_.channels * tiles.count) * vectors(columns) * target_.winograd_data_cycles * points;
    double result = count(f_.outputs * tiles.count) * vectors(image_.columns) *
                    (target_.winograd_sum_cycles * points + target_.winograd_result_cycles * results);
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
    if (tiles.in_both_dims()) return (image_.columns + tiles.columns - 1) / tiles.columns;
    return image_.columns + f_.column_taps - 1;
  }
  double weight_bytes(const FilterTiles& tiles) const {
    int64_t along = tiles.in_both_dims() ? points_of(tiles.columns) : f_.column_taps;
    return 4.0 * count(points_of(tiles.rows) * along * f_.outputs * f_.channels);
  }
  double vectors(int64_t elements) const { return count((elements + lanes_ - 1) / lanes_); }
  double streamed(double bytes) const { return bytes > stays() ? bytes / target_.memory_bytes_per_cycle : 0; }
  double stays() const { return count(target_.l2_bytes) * kStays; }

  const RowFilter& f_;
  const ImageSize image_;
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

/// Tiles of these sizes that may be taken, each without its number.
template <typename Consider>
void for_each_tile(const RowFilter& filter, int64_t most_results, const Consider& consider) {
  auto allowed = [&](FilterTiles tiles) {
    if (tiles.rows > most_results || tiles.columns > most_results || !within_tolerance(filter, tiles)) return;
    consider(tiles);
  };
  for (int64_t rows : {2, 4}) {
    allowed({.rows = rows});
    for (int64_t columns : {2, 4})
      if (filter.column_taps == WinogradTransform::kTaps) allowed({.rows = rows, .columns = columns});
  }
}

BestTiles best_known_tiles(const RowFilter& filter, const Target& target, int64_t most_results) {
  const ImageSize image{*filter.rows.constant(), *filter.columns.constant()};
  const Costs costs(filter, image, target);
  FilterTiles best;
  double least = costs.direct() / kLeastGain;
  for_each_tile(filter, most_results, [&](FilterTiles tiles) {
    if (!costs.has_few_weights(tiles)) return;
    int64_t all = (image.rows + tiles.rows - 1) / tiles.rows;
    for (tiles.count = 1; tiles.count <= all; ++tiles.count) {
      if (tiles.count > 1 && costs.scratch_bytes(tiles) > costs.most_scratch(tiles)) break;
      bool shared = tiles.count == all || (all + tiles.count - 1) / tiles.count >= std::min(kLeastShares, all);
      if (!shared) continue;
      if (double cycles = costs.by_blocks(tiles); cycles < least) least = cycles, best = tiles;
    }
  });
  return {best, least};
}

/// Gives a block as many places as scratch memory may hold; no width: not even the least fits.
void size_open_block(const RowFilter& filter, const Target& target, FilterTiles& tiles) {
  for (tiles.count = kOpenTiles; tiles.count >= 1; tiles.count /= 2)
    for (int64_t columns = kMostOpenColumns; columns >= kLeastWidth; columns -= kLeastWidth) {
      const Costs block(filter, {tiles.count * tiles.rows, columns}, target);
      tiles.width = columns / tiles.columns;
      if (block.scratch_bytes(tiles) <= block.most_scratch(tiles)) return;
    }
  tiles.width = 0;
}

/// Logarithm of the gain for an image, which goes by in blocks of columns.
double open_gain(const RowFilter& filter, const Target& target, const FilterTiles& tiles, ImageSize image) {
  const int64_t most = tiles.width * tiles.columns;
  double cycles = 0;
  for (int64_t left = image.columns; left > 0; left -= most) {
    FilterTiles block = tiles;
    block.count = std::min(block.count, (image.rows + tiles.rows - 1) / tiles.rows);
    cycles += Costs(filter, {image.rows, std::min(left, most)}, target).by_blocks(block);
  }
  return std::log(Costs(filter, image, target).direct() / cycles);
}

BestTiles best_open_tiles(const RowFilter& filter, const Target& target, int64_t most_results) {
  FilterTiles best;
  double most = std::log(kLeastGain);
  for_each_tile(filter, most_results, [&](FilterTiles tiles) {
    if (!Costs(filter, {}, target).has_few_weights(tiles)) return;
    size_open_block(filter, target, tiles);
    if (tiles.width == 0) return;
    double gain = 0;
    for (int64_t size : kOpenSizes) {
      auto extent = [&](Expr dim) { return dim.constant() != nullptr ? *dim.constant() : size; };
      gain += open_gain(filter, target, tiles, {extent(filter.rows), extent(filter.columns)});
    }
    gain /= static_cast<double>(std::size(kOpenSizes));
    if (gain > most) most = gain, best = tiles;
  });
  return {best, 0};
}

BestTiles best_tiles(const RowFilter& filter, const Target& target, int64_t most_results) {
  return filter.is_open() ? best_open_tiles(filter, target, most_results)
                          : best_known_tiles(filter, target, most_results);
}

}  // namespace

Legal<WinogradChoice> choose_winograd(const Draft& draft, const std::optional<ReductionGroup>& group) {
  const Target& target = *draft.target;
  RELAXC_FITS(draft.options->winograd >= 2, "Winograd is turned off");
  RELAXC_FITS(!draft.in_blocks && draft.tree.may_allocate(), "there is no scratch memory");
  RELAXC_FITS(target.lanes(32) >= 4, "vectors are too short");
  RELAXC_FITS(group, "it is not a reduction with its consumers");
  const std::optional<RowFilter> filter = row_filter_of(draft.tree, *group);
  RELAXC_FITS(filter, "it is not a convolution of float32 by constant filters of three rows, one step apart");
  const BestTiles best = best_tiles(*filter, target, draft.options->winograd);
  RELAXC_FITS(best.tiles.count != 0, "the direct convolution takes no longer, or Winograd rounds too much");
  return WinogradChoice{analysis::as_nest(group->reduction).block->id, best.tiles, best.cycles};
}

}  // namespace relaxc::schedule
