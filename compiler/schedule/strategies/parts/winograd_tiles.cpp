// winograd_tiles.cpp: see winograd_tiles.h.
//
// If the size of an image is open, a block is a row of tiles as wide as scratch memory allows, or several rows of a
// narrower image, and the model is evaluated for images of several sizes. Before, blocks had up to four rows of tiles
// of a quarter of the width, whose ends took masks: the text detector at 640x480 took 1.08 of the time, a CRNN at
// 32x320 1.08 (AVX2, one thread).
//
// The error bound (winograd_transform.h) must stay below a thousandth of the largest possible sum of magnitudes. F(2,
// 3), with a growth of 8/3 for a third of the terms in each sum, is within the bound of the direct form.
// docs/performance.md has the measured gains.
#include "compiler/schedule/strategies/parts/winograd_tiles.h"

#include <algorithm>
#include <cmath>

#include "compiler/schedule/analysis/row_filter.h"
#include "compiler/schedule/primitives/winograd_nests.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/winograd_transform.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr double kTolerance = 1e-3;   ///< relative to max |w| * max |x| * terms
constexpr double kLeastGain = 1.15;   ///< in cycles of the model
constexpr double kMostWeights = 5;    ///< at pairs of points, relative to the second level of cache
constexpr double kMostPlanes = 2;     ///< scratch for pairs of points, relative to the second level of cache
constexpr double kStays = 1;          ///< share of the second level of cache for what is read again
constexpr double kOpenStays = 0.5;    ///< likewise, for images of open sizes
constexpr double kPanelStays = 0.75;  ///< likewise, for weights of a tile of output channels and rows they meet
constexpr int64_t kTileVectors = 2;   ///< of output channels in a direct tile
constexpr int64_t kLeastShares = 4;   ///< fewest blocks, for several cores; a single one can distribute loops inside

constexpr int64_t kMostOpenPlaces = 64;              ///< places of a block for an open image size, if they are columns
constexpr int64_t kMostOpenTiles = 32;               ///< likewise, if they are tiles of a row
constexpr int64_t kLeastWidth = 8;                   ///< in columns
constexpr int64_t kWidthStep = 4;                    ///< widths of open blocks are multiples of it, to fill memory
constexpr int64_t kOpenSizes[] = {14, 28, 56, 112};  ///< samples for an open extent

/// Rows and columns of the result.
struct ImageSize {
  int64_t rows = 0, columns = 0;
};

class Costs {
 public:
  Costs(const RowFilter& filter, ImageSize image, const Target& target)
      : f_(filter), image_(image), target_(target), lanes_(target.lanes(32)) {}

  /// The cycles for one image without Winograd. A filter that slides only along rows sees rows and columns as one axis;
  /// if places do not fill vectors, output channels go into lanes instead, if their number is known.
  double direct() const {
    double weights = 4.0 * count(f_.outputs * f_.channels) * 3 * count(f_.column_taps);
    double terms = count(f_.channels * 3 * f_.column_taps);
    double places =
        f_.column_taps == 1 ? vectors(image_.rows * image_.columns) : count(image_.rows) * vectors(image_.columns);
    double by_channels = count(image_.rows) * row_by_channels() * vectors(f_.outputs) / count(f_.outputs);
    if (!f_.is_open()) places = std::min(places, by_channels * (1 + scattered_terms(target_) / terms));
    return count(f_.outputs * f_.channels * 3 * f_.column_taps) * places / target_.fma_per_cycle +
           streamed(weights) / 2;
  }
  double by_blocks(const FilterTiles& tiles) const {
    double points = count(points_of(tiles.rows)), results = count(tiles.rows);
    int64_t columns = image_.columns + f_.column_taps - 1;
    double blocks = count((image_.rows + tiles.rows - 1) / tiles.rows) / count(tiles.count);
    if (!f_.is_open()) blocks = std::ceil(blocks);  // the last block of an open image is smaller
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
  /// As much as fits the cache; more if weights are larger, since these are read again for each block. Planes of pairs
  /// of points, of which there are many, must stay in the cache.
  double most_scratch(const FilterTiles& tiles) const {
    if (tiles.in_both_dims()) return kMostPlanes * count(target_.l2_bytes);
    return std::max(count(target_.l2_bytes), weight_bytes(tiles));
  }
  /// Whether weights at pairs of points are so few that reading them takes less time than multiplying by them.
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
  /// The time for a row of the result by a vector of output channels and a term of the sum, in products of vectors. A
  /// tile of few columns waits for its sums, or for weights from beyond the second level of cache.
  double row_by_channels() const {
    if (image_.columns <= 0) return 0;
    const int64_t most = std::max<int64_t>(1, (target_.vector_registers - 1) / kTileVectors - 1);
    const int64_t tiles = (image_.columns + most - 1) / most, columns = (image_.columns + tiles - 1) / tiles;
    const int64_t panel = f_.channels * 3 * f_.column_taps * kTileVectors * lanes_;
    const int64_t rows = f_.channels * 3 * (image_.columns + f_.column_taps - 1);
    const bool near = 4.0 * count(panel + rows) <= count(target_.l2_bytes) * kPanelStays;
    const double fetch = count(kTileVectors) * (near ? target_.l2_vector_cycles : target_.far_vector_cycles);
    auto cycles = [&](int64_t width) {
      return std::max({count(width * kTileVectors) / target_.fma_per_cycle, fetch, target_.fma_latency});
    };
    const int64_t rest = image_.columns % columns;
    const double all = count(image_.columns / columns) * cycles(columns) + (rest > 0 ? cycles(rest) : 0);
    return all / count(kTileVectors) * target_.fma_per_cycle;
  }
  double weight_bytes(const FilterTiles& tiles) const {
    int64_t along = tiles.in_both_dims() ? points_of(tiles.columns) : f_.column_taps;
    return 4.0 * count(points_of(tiles.rows) * along * f_.outputs * f_.channels);
  }
  double vectors(int64_t elements) const { return count((elements + lanes_ - 1) / lanes_); }
  double streamed(double bytes) const { return bytes > stays() ? bytes / target_.memory_bytes_per_cycle : 0; }
  double stays() const { return count(target_.l2_bytes) * (f_.is_open() ? kOpenStays : kStays); }

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
  FilterTiles tiles;  ///< no tiles for the direct form
  double cycles = 0;
};

/// Calls `consider` for all allowed tiles of these sizes, without their number.
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

/// The most places that scratch memory may hold, at most `most`; 0 if even the fewest do not fit. A block has one tile
/// in rows of as many places, in shorter ones more (winograd_nests.h).
int64_t width_that_fits(const RowFilter& filter, const Target& target, FilterTiles tiles, int64_t most) {
  for (int64_t columns = most * tiles.columns; columns >= kLeastWidth; columns -= kWidthStep) {
    const Costs block(filter, {tiles.rows, columns}, target);
    tiles.width = columns / tiles.columns;
    if (block.scratch_bytes(tiles) <= block.most_scratch(tiles)) return tiles.width;
  }
  return 0;
}

/// The logarithm of the gain for an image, which is processed in blocks of columns.
double open_gain(const RowFilter& filter, const Target& target, const FilterTiles& tiles, ImageSize image) {
  const int64_t most = tiles.width * tiles.columns;
  const int64_t count =
      arith::evaluate(tiles_of_block(filter, tiles), [&](Var) { return image.columns; }).value_or(tiles.count);
  double cycles = 0;
  for (int64_t left = image.columns; left > 0; left -= most) {
    FilterTiles block = tiles;
    block.count = std::min(count, (image.rows + tiles.rows - 1) / tiles.rows);
    cycles += Costs(filter, {image.rows, std::min(left, most)}, target).by_blocks(block);
  }
  return std::log(Costs(filter, image, target).direct() / cycles);
}

/// The mean of the gain's logarithm over images of several sizes.
double mean_open_gain(const RowFilter& filter, const Target& target, const FilterTiles& tiles) {
  double gain = 0;
  for (int64_t size : kOpenSizes) {
    auto extent = [&](Expr dim) { return dim.constant() != nullptr ? *dim.constant() : size; };
    gain += open_gain(filter, target, tiles, {extent(filter.rows), extent(filter.columns)});
  }
  return gain / static_cast<double>(std::size(kOpenSizes));
}

BestTiles best_open_tiles(const RowFilter& filter, const Target& target, int64_t most_results) {
  FilterTiles best;
  double most = std::log(kLeastGain);
  for_each_tile(filter, most_results, [&](FilterTiles tiles) {
    if (!Costs(filter, {}, target).has_few_weights(tiles)) return;
    tiles.count = 1;
    const int64_t places = tiles.in_both_dims() ? kMostOpenTiles : kMostOpenPlaces;
    for (int64_t limit : {places, places / 2}) {
      tiles.width = width_that_fits(filter, target, tiles, limit);
      if (tiles.width == 0) continue;
      if (const double gain = mean_open_gain(filter, target, tiles); gain > most) most = gain, best = tiles;
    }
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
