// window_rule.cpp: when filters slide over a copy of their image.
//
// A copy costs a load and a store of each element, and a shuffle if the filter moves by more than one column. It saves
// a mask, a second load and a shuffle of every vector that a tap reads, so it pays where elements are read often: by
// the taps, or by several tiles of output channels. A depthwise filter gains most: rows that several taps read then are
// the same vectors, which stay in registers. Channels of large images lie on pages of their own, more of them than a
// core keeps the addresses of, and are read faster side by side.
//
// Rows that do not fill vectors leave the lanes to output channels, if there are enough of them. Tiles then read
// scalars of the copy, which spares them the question for each whether it lies inside of the image. All of the filter
// goes by for each block of rows, so these are large.
#include "compiler/schedule/strategies/window_rule.h"

#include <algorithm>

#include "compiler/schedule/primitives/cache_window.h"
#include "compiler/schedule/primitives/chunk.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/stage_loads.h"
#include "compiler/schedule/strategies/rule_parts.h"

namespace relaxc::schedule {

namespace {

constexpr double kLeastReuse = 1.6;          ///< reads of an element of the copy
constexpr double kLeastFilled = 0.6;         ///< of a vector by a row of the result
constexpr double kLeastFilledStrided = 0.3;  ///< the same where else each vector is shuffled out of two
constexpr double kTileRows = 8;              ///< output channels that a loaded vector meets, about
constexpr int64_t kLeastBlocks = 8;          ///< of rows, so that there is something to share among cores
constexpr double kLeastFilledScalars = 0.2;  ///< the same where lanes are output channels
constexpr int64_t kLeastChannels = 6;        ///< vectors of them that read what was copied
constexpr int64_t kMostUnrolledTaps = 7;
constexpr double kManyPages = 0.375;    ///< of those whose addresses a core keeps: a filter has three rows
constexpr int64_t kShareOfPixels = 8;   ///< a copy that lanes go along has one by this of the second level of cache
constexpr int64_t kShareOfScalars = 2;  ///< the same where its scalars are read
constexpr int64_t kLeastRows = 4;       ///< of a block, about

class Rule {
 public:
  Rule(Tree& s, uint32_t block, std::vector<uint32_t>& spatial, const std::vector<uint32_t>& reduced,
       const Target& target, int64_t lanes, bool packs)
      : s_(s), block_(block), spatial_(spatial), reduced_(reduced), target_(target), lanes_(lanes), packs_(packs) {}

  Legal<Sliding> run() {
    auto found = window_of(s_, block_, spatial_, reduced_);
    if (!found) return Sliding{};
    window_ = std::move(*found);
    Sliding sliding{.vector = row_loop()};
    if (sliding.vector == 0 || !is_known()) return Sliding{};
    by_channels_ = packs_ && fits_channels(sliding.vector);
    if (!pays(sliding.vector)) return Sliding{};
    if (window_.sharing.empty()) find_rows(sliding);
    RELAXC_STEP(const bool placed, place(sliding));
    if (!placed) return Sliding{};
    auto again = window_of(s_, block_, spatial_, reduced_);  // rows may have become fewer
    if (!again) return Sliding{};
    RELAXC_STEP(CachedWindow copy,
                apply(s_, CacheWindow{block_, spatial_[0], sliding.vector, spatial_, reduced_, lanes_}));
    RELAXC_LEGAL(apply(s_, StageLoads{copy.block, 0}));
    RELAXC_LEGAL(vectorize_whole(s_, copy.along, lanes_, target_));
    return by_channels_ ? Sliding{} : sliding;
  }

 private:
  int64_t extent(uint32_t loop) const { return *s_.loop(loop).extent.constant(); }
  bool is_inner(uint32_t loop) const {
    return window_.dim_of(loop) != nullptr ||
           std::find(window_.sharing.begin(), window_.sharing.end(), loop) != window_.sharing.end();
  }

  static bool is_located(const WindowDim* dim) { return dim != nullptr && dim->slides && dim->base; }

  /// The loop that is contiguous in the result, if it slides.
  uint32_t row_loop() const {
    const auto& store = *s_.block(block_).body.as<tir::Store>();
    for (uint32_t loop : spatial_)
      if (step_of(store.buffer, store.indices, s_.loop(loop).var) == 1 && is_located(window_.dim_of(loop))) return loop;
    return 0;
  }

  bool is_known() const {
    auto open = [&](uint32_t loop) { return is_inner(loop) && s_.loop(loop).extent.constant() == nullptr; };
    return std::none_of(spatial_.begin(), spatial_.end(), open) && std::none_of(reduced_.begin(), reduced_.end(), open);
  }

  /// What is summed over lies on more pages than the processor knows the addresses of.
  bool is_far_apart() const {
    double pages = 1;
    const auto* load = window_.load;
    for (const WindowDim& dim : window_.dims) {
      if (dim.slides || dim.steps.size() != 1) continue;
      auto step = step_of(load->buffer, load->indices, s_.loop(dim.steps[0].first).var);
      if (step && *step * load->buffer->dtype.bytes() >= target_.page_bytes) pages *= static_cast<double>(dim.extent);
    }
    return pages >= kManyPages * static_cast<double>(target_.tlb_pages);
  }

  /// Of the lanes of whole vectors along the loop, those that hold something.
  double filled(uint32_t loop) const {
    return static_cast<double>(extent(loop)) / static_cast<double>((extent(loop) + lanes_ - 1) / lanes_ * lanes_);
  }

  /// Output channels fill vectors better than a row does, even though they are stored apart.
  bool fits_channels(uint32_t vector) const {
    double terms = 1, best = 0;
    for (uint32_t loop : reduced_) terms *= static_cast<double>(extent(loop));
    for (uint32_t loop : window_.sharing)
      if (extent(loop) >= kLeastChannels * lanes_) best = std::max(best, filled(loop));
    return filled(vector) >= kLeastFilledScalars && best / (1 + scattered_terms(target_) / terms) > filled(vector);
  }

  bool pays(uint32_t vector) const {
    bool strided = window_.step_of(vector) > 1;
    bool only_pixels = strided && window_.sharing.empty();  // channels could not be in lanes instead
    if (!by_channels_ && filled(vector) < (only_pixels ? kLeastFilledStrided : kLeastFilled)) return false;
    if (!strided && !window_.guarded) return false;
    double uses = 1, positions = 1;
    for (const WindowDim& dim : window_.dims) {
      if (!dim.slides) continue;
      for (const auto& [loop, step] : dim.steps) uses *= static_cast<double>(extent(loop));
      positions *= static_cast<double>(dim.extent);
    }
    for (uint32_t loop : window_.sharing) uses *= std::max(1.0, static_cast<double>(extent(loop)) / kTileRows);
    if (!strided && !window_.sharing.empty() && !is_far_apart() && !by_channels_) return false;
    return uses / positions >= kLeastReuse;
  }

  /// Rows that are in several windows of a column, and the taps that are.
  void find_rows(Sliding& sliding) const {
    for (const WindowDim& dim : window_.dims) {
      if (!dim.slides || dim.steps.size() != 2 || &dim == window_.dim_of(sliding.vector)) continue;
      for (const auto& [loop, step] : dim.steps) {
        bool reduces = std::find(reduced_.begin(), reduced_.end(), loop) != reduced_.end();
        (reduces ? sliding.taps : sliding.rows) = loop;
      }
    }
    if (sliding.taps == 0 || extent(sliding.taps) > kMostUnrolledTaps) sliding.rows = sliding.taps = 0;
    if (sliding.taps == 0 || window_.step_of(sliding.vector) == 1) return;
    const uint32_t along = window_.dim_of(sliding.vector)->steps[0].first;  // those of the reduction come first
    if (extent(along) <= kMostUnrolledTaps) sliding.phases = along;
  }

  int64_t bytes() const {
    int64_t total = window_.node.dtype().bytes();
    for (const WindowDim& dim : window_.dims) total *= dim.extent;
    return total;
  }

  /// Puts the loops of the window inside of all others, and cuts its rows so that the copy stays in the cache.
  Legal<bool> place(Sliding& sliding) {
    std::vector<uint32_t> outer, inner;
    for (uint32_t loop : spatial_) (is_inner(loop) ? inner : outer).push_back(loop);
    std::vector<uint32_t> order = outer;
    order.insert(order.end(), inner.begin(), inner.end());
    if (order != spatial_ && !can_reorder(s_, order)) return false;
    const int64_t most = target_.l2_bytes / (by_channels_ ? kShareOfScalars : kShareOfPixels);
    uint32_t cut = 0;
    for (uint32_t loop : inner)
      if (cut == 0 && loop != sliding.vector && window_.dim_of(loop) != nullptr) cut = loop;
    int64_t rows = cut == 0 ? 1 : extent(cut), blocks = (bytes() + most - 1) / most;
    if (!window_.sharing.empty() && !by_channels_) blocks = std::max(blocks, kLeastBlocks);
    blocks = std::min(blocks, (rows + kLeastRows - 1) / kLeastRows);
    if (cut == 0 && blocks > 1) return false;
    if (order != spatial_) RELAXC_LEGAL(apply(s_, Reorder{order}));
    if (blocks > 1) {
      // The outermost of the loops inside; rows of a depthwise tile are unrolled, and so of a number that is known.
      auto at = std::find(inner.begin(), inner.end(), cut);
      std::rotate(inner.begin(), at, at + 1);
      std::copy(inner.begin(), inner.end(), order.end() - static_cast<std::ptrdiff_t>(inner.size()));
      if (!can_reorder(s_, order)) return false;
      RELAXC_LEGAL(apply(s_, Reorder{order}));
      int64_t size = (rows + blocks - 1) / blocks;
      if (sliding.rows == cut) {
        while (rows % size != 0) ++size;
        RELAXC_STEP(const SplitLoops blocks_of_rows, apply(s_, Split{cut, size, Tail::kPeel}));
        sliding.rows = inner[0] = blocks_of_rows.inner;
      } else {
        RELAXC_STEP(const uint32_t chunks, apply(s_, Chunk{cut, size}));
        inner[0] = s_.loop(chunks).body.as<tir::For>()->id;
      }
    }
    spatial_ = inner;
    return true;
  }

  Tree& s_;
  uint32_t block_;
  std::vector<uint32_t>& spatial_;
  const std::vector<uint32_t>& reduced_;
  const Target& target_;
  const int64_t lanes_;
  const bool packs_;
  bool by_channels_ = false;  ///< lanes are output channels
  Window window_;
};

}  // namespace

Legal<Sliding> slide_over_copy(Tree& s, uint32_t block, std::vector<uint32_t>& spatial,
                               const std::vector<uint32_t>& reduced, const Target& target, int64_t lanes, bool packs) {
  return Rule(s, block, spatial, reduced, target, lanes, packs).run();
}

}  // namespace relaxc::schedule
