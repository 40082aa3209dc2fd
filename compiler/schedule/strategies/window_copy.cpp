// window_copy.cpp: filters that slide over a copy of their image.
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
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/schedule/primitives/cache_window.h"
#include "compiler/schedule/primitives/chunk.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/stage_loads.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"

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

using Loops = std::vector<uint32_t>;

/// What is copied, and when.
struct Copy {
  Sliding sliding;
  bool by_channels = false;  ///< lanes are output channels, and scalars of the copy are read
  Loops outer, inner;        ///< loops of the result around the copy, and those of its window
  uint32_t cut = 0;          ///< the loop of `inner` over rows that is cut into blocks; 0: there is one block
  int64_t blocks = 1;
};

/// Decides whether the window of a reduction is copied.
class WindowQuestions {
 public:
  explicit WindowQuestions(const Draft& draft)
      : s_(draft.tree),
        block_(draft.reduction.block),
        spatial_(draft.reduction.spatial),
        reduced_(draft.reduction.reduced),
        target_(*draft.target),
        lanes_(draft.reduction.lanes),
        packs_(!draft.reduction.constants.empty()) {}

  Legal<Copy> answer() {
    auto found = window_of(s_, block_, spatial_, reduced_);
    RELAXC_FITS(found, "no filter slides over an operand");
    window_ = std::move(*found);
    Copy copy;
    copy.sliding.vector = row_loop();
    RELAXC_FITS(copy.sliding.vector != 0, "the filter does not slide along the axis that is contiguous in the result");
    RELAXC_FITS(is_known(), "extents of the window are open");
    copy.by_channels = by_channels_ = packs_ && fits_channels(copy.sliding.vector);
    RELAXC_FITS(pays(copy.sliding.vector), "elements are not read so often that a copy pays");
    if (window_.sharing.empty()) find_rows(copy.sliding);
    return placed(std::move(copy));
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
  Legal<Copy> placed(Copy copy) const {
    for (uint32_t loop : spatial_) (is_inner(loop) ? copy.inner : copy.outer).push_back(loop);
    RELAXC_FITS(may_stand(copy), "the loops of the window cannot stand inside of the others");
    const int64_t most = target_.l2_bytes / (by_channels_ ? kShareOfScalars : kShareOfPixels);
    uint32_t cut = 0;
    for (uint32_t loop : copy.inner)
      if (cut == 0 && loop != copy.sliding.vector && window_.dim_of(loop) != nullptr) cut = loop;
    const int64_t rows = cut == 0 ? 1 : extent(cut);
    int64_t blocks = (bytes() + most - 1) / most;
    if (!window_.sharing.empty() && !by_channels_) blocks = std::max(blocks, kLeastBlocks);
    blocks = std::min(blocks, (rows + kLeastRows - 1) / kLeastRows);
    RELAXC_FITS(cut != 0 || blocks <= 1, "the copy is too large for the cache, and has no rows to be cut");
    if (blocks <= 1) return copy;
    copy.cut = cut, copy.blocks = blocks;
    // The outermost of the loops inside.
    const auto at = std::find(copy.inner.begin(), copy.inner.end(), cut);
    std::rotate(copy.inner.begin(), at, at + 1);
    RELAXC_FITS(may_stand(copy), "rows of the copy cannot stand outside of its other loops");
    return copy;
  }

  bool may_stand(const Copy& copy) const {
    Loops order = copy.outer;
    order.insert(order.end(), copy.inner.begin(), copy.inner.end());
    return order == spatial_ || can_reorder(s_, order);
  }

  const Tree& s_;
  const uint32_t block_;
  const Loops& spatial_;
  const Loops& reduced_;
  const Target& target_;
  const int64_t lanes_;
  const bool packs_;
  bool by_channels_ = false;  ///< lanes are output channels
  Window window_;
};

Legal<Copy> match(const Draft& draft) {
  RELAXC_FITS(draft.reduction.room && draft.tree.may_allocate(), "there is no scratch memory");
  return WindowQuestions(draft).answer();
}

struct WindowCopy {
  Copy copy;
  std::string axes;  ///< for people

  std::string text() const { return axes; }
  Legal<> carry_out(Draft& draft) const {
    Tree& tree = draft.tree;
    ReductionForm& form = draft.reduction;
    Sliding sliding = copy.sliding;
    RELAXC_LEGAL(reorder(draft));
    form.spatial = copy.inner;
    if (copy.cut != 0) {
      RELAXC_STEP(form.spatial[0], cut_rows(tree, sliding));
    }
    RELAXC_FITS(window_of(tree, form.block, form.spatial, form.reduced), "a block of rows has no window of its own");
    RELAXC_STEP(const CachedWindow made, apply(tree, CacheWindow{form.block, form.spatial[0], sliding.vector,
                                                                 form.spatial, form.reduced, form.lanes}));
    RELAXC_LEGAL(apply(tree, StageLoads{made.block, 0}));
    RELAXC_LEGAL(vectorize_whole(tree, made.along, form.lanes, *draft.target));
    form.sliding = copy.by_channels ? Sliding{} : sliding;
    return Done{};
  }

 private:
  Legal<> reorder(Draft& draft) const {
    Loops order = copy.outer, inner = copy.inner;
    const auto cut = std::find(inner.begin(), inner.end(), copy.cut);
    if (cut != inner.end()) {
      // First as they stood, then rows outermost of the loops inside.
      inner.clear();
      for (uint32_t loop : draft.reduction.spatial)
        if (std::find(copy.inner.begin(), copy.inner.end(), loop) != copy.inner.end()) inner.push_back(loop);
    }
    order.insert(order.end(), inner.begin(), inner.end());
    if (order != draft.reduction.spatial) RELAXC_LEGAL(apply(draft.tree, Reorder{order}));
    if (copy.cut == 0) return Done{};
    std::copy(copy.inner.begin(), copy.inner.end(), order.end() - static_cast<std::ptrdiff_t>(inner.size()));
    RELAXC_LEGAL(apply(draft.tree, Reorder{order}));
    return Done{};
  }

  /// Gives the loop over the rows of a block. Those of a depthwise tile are unrolled, and so of a number that is known.
  Legal<uint32_t> cut_rows(Tree& tree, Sliding& sliding) const {
    const int64_t rows = *tree.loop(copy.cut).extent.constant();
    int64_t size = (rows + copy.blocks - 1) / copy.blocks;
    if (sliding.rows == copy.cut) {
      while (rows % size != 0) ++size;
      RELAXC_STEP(const SplitLoops made, apply(tree, Split{copy.cut, size, Tail::kPeel}));
      sliding.rows = made.inner;
      return made.inner;
    }
    RELAXC_STEP(const uint32_t chunks, apply(tree, Chunk{copy.cut, size}));
    return tree.loop(chunks).body.as<tir::For>()->id;
  }
};

Legal<WindowCopy> plan(const Draft& draft, const Copy& copy) {
  return WindowCopy{copy, fmt::format("{} along {}, in {} blocks of rows", copy.by_channels ? "scalars" : "vectors",
                                      told_name(draft, copy.sliding.vector), copy.blocks)};
}

}  // namespace

std::span<const Strategy> window_copy_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "window_copy",
               .stage = Stage::kOperands,
               .priority = 20,
               .doc = "The window over which a filter slides is copied to scratch memory, in whole vectors with its "
                      "border filled in, where its elements are read often enough.",
               .propose = propose<match, kNotEstimated, plan>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
