// tile_shape.cpp: chooses the shapes of register tiles.
//
// A tile of m rows and n vectors needs m * n accumulators, n vectors of one operand and one broadcast of the other. A
// core with two ports for multiplications and two for loads takes m * n / 2 or (m + n) / 2 cycles for a step of the
// reduction, but not less than the latency of the addition that the next step waits for; this hides vectors that come
// from the second level of cache, but not completely. All shapes are tried, since there are few; each is judged
// together with the smaller tiles that its remainders need.
//
// Rejected: blocking the reduction such that a block's part of a panel stays in the first level of cache. Tiles of 8
// rows and 3 vectors read 16 bytes a cycle of the 64 that the second level gives, while writing sums to memory and back
// between blocks costs up to 11%; only wide tiles gain, and only as much as narrower ones do without blocks
// (docs/performance.md).
#include "compiler/schedule/strategies/parts/tile_shape.h"

#include <algorithm>
#include <span>
#include <utility>

#include "compiler/arith/visit.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr double kPanelOfL1 = 0.5, kPanelOfL2 = 0.75;  ///< maximum share of the cache level for a panel
constexpr double kBetter = 0.999;                      ///< maximum relative to the best tile, to replace it

/// Samples for an unknown extent. Tiles must do well on few steps, where most of the work is in remainders,
/// as well as on many.
constexpr double kSamples[] = {1, 2, 3, 4, 8, 16, 32, 64, 128};
/// The same for pixels of images in the first layers of networks, which sum few terms: there are many. A tile of few
/// channels then writes a longer run of each, and to fewer places at once, than one of many channels: a text detector
/// with open dims takes 44.2 ms in place of 47.5 (640x480, AVX-512, one thread). Other limits were not tried.
constexpr double kPixelSamples[] = {16, 32, 64, 128};
constexpr double kTermsOfFirstLayers = 48;

/// Cycles to bring a vector into the first level of cache, if `vectors` of it for each term are read in turns. They
/// stay in a level if they leave room for the rows, and in the second level for results, too.
double fetch_cycles(const Target& target, const TileReads& reads, double vectors) {
  const double panel = reads.terms * vectors * static_cast<double>(target.vector_bits / 8);
  return panel > static_cast<double>(target.l2_bytes) * kPanelOfL2   ? target.far_vector_cycles
         : panel > static_cast<double>(target.l1_bytes) * kPanelOfL1 ? target.l2_vector_cycles
                                                                     : 0;
}

/// \param fetch cycles to bring a vector into the first level of cache
double cycles(const MachineModel& model, const TileReads& reads, int64_t m, int64_t n, double fetch) {
  double loads = static_cast<double>(m + n), vectors = static_cast<double>(n);
  double work = static_cast<double>(m * n) + reads.work * vectors;
  double stalls = fetch > 0 ? model.far_stall_cycles * vectors : 0;
  return std::max({work / model.fma_per_cycle, loads / model.loads_per_cycle, fetch * vectors, model.fma_latency}) +
         model.load_overhead * loads + stalls;
}

/// One axis of a tile: the numbers of steps that it may have, and the remainders for each tile size.
class Axis {
 public:
  /// \param rest sizes of smaller tiles if the extent is unknown; the last one is 1
  Axis(std::vector<double> extents, std::vector<int64_t> rest) : extents_(std::move(extents)), rest_(std::move(rest)) {}

  const std::vector<double>& extents() const { return extents_; }
  bool holds(int64_t size) const { return static_cast<double>(size) <= extents_.back(); }

  /// How often each size of tile occurs along `extent` steps with tiles of `size`.
  std::vector<std::pair<double, int64_t>> pieces(double extent, int64_t size) const {
    auto left = static_cast<int64_t>(extent);
    std::vector<std::pair<double, int64_t>> found{{static_cast<double>(left / size), size}};
    left %= size;
    if (extents_.size() == 1) found.push_back({left > 0 ? 1 : 0, left});
    for (size_t i = 0; extents_.size() > 1 && i < rest_.size(); ++i) {
      if (rest_[i] >= size && rest_[i] > 1) continue;
      found.push_back({static_cast<double>(left / rest_[i]), rest_[i]});
      left %= rest_[i];
    }
    return found;
  }

  /// The size that gives the same number of tiles, as equal as possible.
  int64_t balanced(int64_t size) const {
    if (extents_.size() > 1) return size;
    auto count = static_cast<int64_t>(extents_[0]);
    int64_t tiles = (count + size - 1) / size;
    return (count + tiles - 1) / tiles;
  }

 private:
  std::vector<double> extents_;
  std::vector<int64_t> rest_;
};

Axis axis_of(Expr extent, int64_t unit, std::vector<int64_t> rest, std::span<const double> samples) {
  if (!extent) return {{1}, std::move(rest)};
  const int64_t* count = extent.constant();
  if (count == nullptr) return {{samples.begin(), samples.end()}, std::move(rest)};
  return {{static_cast<double>((std::max<int64_t>(*count, 1) + unit - 1) / unit)}, std::move(rest)};
}

/// Whether the extent is of all pixels of an image of open height and width.
bool is_of_pixels(Expr extent) {
  return extent && extent.constant() == nullptr && arith::free_vars(extent).size() >= 2;
}

}  // namespace

std::vector<TileShape> good_tiles(const Target& target, Expr unrolled, Expr vectorized, int64_t lanes,
                                  const TileLimits& limits, const TileReads& reads, size_t most) {
  const bool many = is_of_pixels(vectorized) && reads.terms <= kTermsOfFirstLayers;
  const Axis rows = axis_of(unrolled, 1, {4, 2, 1}, kSamples);
  const Axis vectors = axis_of(vectorized, lanes, {1}, many ? std::span<const double>(kPixelSamples) : kSamples);
  /// The mean cycles of a step per row and vector, over the samples of the extents.
  auto mean_cycles = [&](const TileShape& shape) {
    double mean = 0;
    for (double height : rows.extents())
      for (double width : vectors.extents()) {
        double total = 0;
        const double fetch =
            fetch_cycles(target, reads, reads.vectors_inside ? width : static_cast<double>(shape.vectors));
        for (auto [count, m] : rows.pieces(height, shape.unrolled))
          for (auto [groups, n] : vectors.pieces(width, shape.vectors))
            if (count * groups > 0) total += count * groups * cycles(target, reads, m, n, fetch);
        mean += total / (height * width);
      }
    return mean;
  };
  TileShape best;
  double best_cycles = 1e30;
  std::vector<std::pair<double, TileShape>> all;
  for (int64_t n = 1; n <= limits.vectors && vectors.holds(n); ++n)
    for (int64_t m = 1; m <= (n == 1 ? std::min(limits.rows, limits.rows_of_vector) : limits.rows) && rows.holds(m);
         ++m) {
      if (m * n + n + 1 > limits.registers) continue;
      TileShape shape{rows.balanced(m), vectors.balanced(n)};
      double total = mean_cycles(shape);
      if (total < best_cycles * kBetter) best_cycles = total, best = shape;
      all.emplace_back(total, shape);
    }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<TileShape> good{best};
  for (const auto& [total, shape] : all) {
    auto same = [&, &shape = shape](const TileShape& other) {
      return other.unrolled == shape.unrolled && other.vectors == shape.vectors;
    };
    if (good.size() < most && std::none_of(good.begin(), good.end(), same)) good.push_back(shape);
  }
  return good;
}

}  // namespace relaxc::schedule
