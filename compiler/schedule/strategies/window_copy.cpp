// window_copy.cpp: lets filters slide over a copy of their image.
//
// A copy costs a load and a store of each element, and a shuffle if the filter moves by more than one column. It saves
// a mask, a second load and a shuffle for every vector that a tap reads, so it pays if elements are read often: by the
// taps, or by several tiles of output channels. A depthwise filter gains most: rows that several taps read are then the
// same vectors, which stay in registers. Channels of large images are on pages of their own, more than a core's TLB
// holds, and are read faster if they are adjacent.
//
// If rows do not fill vectors, output channels go into lanes, if there are enough of them. Tiles then read scalars of
// the copy, which need no check whether they are inside of the image. The whole filter is read for each block of rows,
// so blocks are large.
//
// Rows and columns of an image of open size are divided into blocks of a known size, of which the last is smaller, so
// that the memory for a copy is known. Blocks are small: a copy contains borders twice, but images may be small as
// well. Rows of open length may be short in later layers, where sums are long, so output channels are in lanes there.
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

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr double kLeastReuse = 1.6;          ///< reads of each element of the copy
constexpr double kLeastFilled = 0.6;         ///< share of the lanes that a row of the result must fill
constexpr double kLeastFilledStrided = 0.3;  ///< likewise, if each vector would otherwise be shuffled from two
constexpr double kCopiedTileRows = 8;        ///< output channels that a loaded vector serves, approximately
constexpr int64_t kLeastBlocks = 8;          ///< of rows, so that work can be distributed over cores
constexpr double kLeastFilledScalars = 0.2;  ///< likewise, if lanes are output channels
constexpr int64_t kLeastChannels = 6;        ///< vectors of them that read the copy
constexpr int64_t kMostUnrolledTaps = 7;
constexpr double kManyPages = 0.375;           ///< of those in the TLB: a filter has three rows
constexpr int64_t kShareOfPixels = 8;          ///< a copy with lanes along it may take 1 / this of the second level
constexpr int64_t kShareOfScalars = 2;         ///< likewise, if its scalars are read
constexpr int64_t kLeastRows = 4;              ///< of a block, approximately
constexpr int64_t kOpenImageRows = 8;          ///< of a block, if the number of rows is open
constexpr int64_t kOpenVectors = 4;            ///< of columns, likewise,
constexpr int64_t kMostOpenVectors = 16;       ///< or as many as fit, since vectors at the ends of a row are masked
constexpr int64_t kOpenRowsOfChannel = 32;     ///< likewise, if each channel has a filter of its own,
constexpr int64_t kOpenVectorsOfChannel = 16;  ///< so that small maps are one block
constexpr double kMostOpenTerms = 160;         ///< of a sum: 7x7 of 3 channels, 3x3 of 16
constexpr double kFilledByOpenRow = 0.75;      ///< share of lanes, on average over rows that may be short

using Loops = std::vector<uint32_t>;

/// A planned copy of an image.
struct ImageCopy {
  Sliding sliding;
  bool by_channels = false;  ///< lanes are output channels, and scalars of the copy are read
  Loops outer, inner;        ///< loops of the result around the copy, and those of its window
  uint32_t cut = 0;          ///< the loop of `inner` over rows that is divided into blocks; 0 for a single block
  int64_t rows = 0;          ///< rows of a block
  int64_t columns = 0;       ///< columns of a block; 0 if columns are not divided
  double elements = 0;       ///< total number of copied elements
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

  Legal<ImageCopy> answer() {
    cut_open_loops(kOpenImageRows, kOpenVectors);
    auto found = window_of(s_, block_, spatial_, reduced_, blocks_);
    RELAXC_FITS(found, "no filter slides over an operand");
    if (found->sharing.empty()) {
      cut_open_loops(kOpenRowsOfChannel, kOpenVectorsOfChannel);
      found = window_of(s_, block_, spatial_, reduced_, blocks_);
    }
    window_ = std::move(*found);
    ImageCopy copy;
    copy.sliding.vector = row_loop();
    RELAXC_FITS(copy.sliding.vector != 0, "the filter does not slide along the axis that is contiguous in the result");
    RELAXC_FITS(is_known(copy.sliding.vector), "extents of the window are open");
    copy.by_channels = by_channels_ = packs_ && fits_channels(copy.sliding.vector);
    RELAXC_FITS(pays(copy.sliding.vector), "elements are not read so often that a copy pays");
    if (window_.sharing.empty()) find_rows(copy.sliding);
    RELAXC_STEP(copy, placed(std::move(copy)));
    copy.elements = 1;
    for (const WindowDim& dim : window_.dims) copy.elements *= static_cast<double>(dim.extent);
    for (uint32_t loop : copy.outer)
      if (const int64_t* times = s_.loop(loop).extent.constant()) copy.elements *= static_cast<double>(*times);
    return copy;
  }

 private:
  /// The iterations of the loop, or of a block of it if its extent is open.
  int64_t extent(uint32_t loop) const {
    const auto block = blocks_.find(loop);
    return block != blocks_.end() ? block->second : *s_.loop(loop).extent.constant();
  }
  bool is_open(uint32_t loop) const { return blocks_.count(loop) != 0; }
  bool is_contiguous(uint32_t loop) const {
    const auto& store = *s_.block(block_).body.as<tir::Store>();
    return step_of(store.buffer, store.indices, s_.loop(loop).var) == 1;
  }
  /// Sets the blocks for loops of the result with open extents.
  void cut_open_loops(int64_t rows, int64_t vectors) {
    for (uint32_t loop : spatial_)
      if (s_.loop(loop).extent.constant() == nullptr) blocks_[loop] = is_contiguous(loop) ? vectors * lanes_ : rows;
  }
  bool is_inner(uint32_t loop) const {
    return window_.dim_of(loop) != nullptr ||
           std::find(window_.sharing.begin(), window_.sharing.end(), loop) != window_.sharing.end();
  }

  static bool is_located(const WindowDim* dim) { return dim != nullptr && dim->slides && dim->base; }

  /// The loop that is contiguous in the result, if it slides; else 0.
  uint32_t row_loop() const {
    for (uint32_t loop : spatial_)
      if (is_contiguous(loop) && is_located(window_.dim_of(loop))) return loop;
    return 0;
  }

  /// Whether all extents are known, except for those of rows and columns that are divided.
  bool is_known(uint32_t vector) const {
    const uint32_t cut = loop_to_cut(vector);
    auto open = [&](uint32_t loop) { return is_inner(loop) && is_open(loop) && loop != vector && loop != cut; };
    auto unknown = [&](uint32_t loop) { return s_.loop(loop).extent.constant() == nullptr; };
    return std::none_of(spatial_.begin(), spatial_.end(), open) &&
           std::none_of(reduced_.begin(), reduced_.end(), unknown);
  }

  /// The outermost loop over rows of the window; 0 if there is none.
  uint32_t loop_to_cut(uint32_t vector) const {
    for (uint32_t loop : spatial_)
      if (loop != vector && window_.dim_of(loop) != nullptr) return loop;
    return 0;
  }

  /// Whether the terms of a sum are on more pages than the TLB holds.
  bool has_far_strides() const {
    double pages = 1;
    const auto* load = window_.load;
    for (const WindowDim& dim : window_.dims) {
      if (dim.slides || dim.steps.size() != 1) continue;
      auto step = step_of(load->buffer, load->indices, s_.loop(dim.steps[0].first).var);
      if (step && *step * load->buffer->dtype.bytes() >= target_.page_bytes) pages *= static_cast<double>(dim.extent);
    }
    return pages >= kManyPages * static_cast<double>(target_.tlb_pages);
  }

  /// The share of lanes that are used by whole vectors along the loop.
  double filled(uint32_t loop) const {
    return static_cast<double>(extent(loop)) / static_cast<double>((extent(loop) + lanes_ - 1) / lanes_ * lanes_);
  }

  double terms() const {
    double count = 1;
    for (uint32_t loop : reduced_) count *= static_cast<double>(extent(loop));
    return count;
  }

  /// Whether output channels fill vectors better than a row, although their results are not adjacent. Rows of open
  /// length may be short, except in the first layers of networks.
  bool fits_channels(uint32_t vector) const {
    double best = 0;
    for (uint32_t loop : window_.sharing)
      if (extent(loop) >= kLeastChannels * lanes_) best = std::max(best, filled(loop));
    const bool may_be_short = is_open(vector) && loop_to_cut(vector) != 0 && !may_be_wide(vector);
    const double by_row = may_be_short ? kFilledByOpenRow : filled(vector);
    return filled(vector) >= kLeastFilledScalars && best / (1 + scattered_terms(target_) / terms()) > by_row;
  }

  /// Columns of open number are many in the first layers of networks for images, which sum few terms. In later layers,
  /// and in sequences, they may be few: a voice detector of 7 frames took a fifth longer. If channels do not fill
  /// vectors, columns do so without a copy. If each channel has its own filter, only columns can be in lanes, and rows
  /// are read many times.
  bool may_be_wide(uint32_t vector) const {
    if (window_.sharing.empty()) return loop_to_cut(vector) != 0;
    const bool channels_fill = std::any_of(window_.sharing.begin(), window_.sharing.end(),
                                           [&](uint32_t loop) { return extent(loop) >= lanes_; });
    return channels_fill && loop_to_cut(vector) != 0 && terms() <= kMostOpenTerms;
  }

  bool pays(uint32_t vector) const {
    bool strided = window_.step_of(vector) > 1;
    bool only_pixels = strided && window_.sharing.empty();  // channels could not be in lanes instead
    if (!by_channels_ && filled(vector) < (only_pixels ? kLeastFilledStrided : kLeastFilled)) return false;
    if (!strided && !window_.guarded) return false;
    if (is_open(vector) && !by_channels_ && !may_be_wide(vector)) return false;
    double uses = 1, positions = 1;
    for (const WindowDim& dim : window_.dims) {
      if (!dim.slides) continue;
      for (const auto& [loop, step] : dim.steps) uses *= static_cast<double>(extent(loop));
      positions *= static_cast<double>(dim.extent);
    }
    for (uint32_t loop : window_.sharing) uses *= std::max(1.0, static_cast<double>(extent(loop)) / kCopiedTileRows);
    if (!strided && !window_.sharing.empty() && !has_far_strides() && !by_channels_) return false;
    return uses / positions >= kLeastReuse;
  }

  /// Finds the loop over rows that are in several windows of a column, and the loop over these taps.
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
    const uint32_t along = window_.dim_of(sliding.vector)->steps[0].first;  // loops of the reduction come first
    if (extent(along) <= kMostUnrolledTaps) sliding.phases = along;
  }

  /// The bytes of a copy for `rows` iterations of `cut` and `columns` of `vector`; 0 for all.
  int64_t bytes(uint32_t cut = 0, int64_t rows = 0, uint32_t vector = 0, int64_t columns = 0) const {
    int64_t total = window_.node.dtype().bytes();
    for (const WindowDim& dim : window_.dims) {
      int64_t positions = dim.extent;
      for (const auto& [loop, step] : dim.steps) {
        if (loop == cut && rows != 0) positions -= step * (extent(loop) - rows);
        if (loop == vector && columns != 0) positions -= step * (extent(loop) - columns);
      }
      total *= positions;
    }
    return total;
  }

  /// Moves the loops of the window inside of all others, and divides its rows so that the copy fits the cache.
  Legal<ImageCopy> placed(ImageCopy copy) const {
    for (uint32_t loop : spatial_) (is_inner(loop) ? copy.inner : copy.outer).push_back(loop);
    RELAXC_FITS(can_be_placed(copy), "the loops of the window cannot be moved inside of the others");
    const int64_t most = target_.l2_bytes / (by_channels_ ? kShareOfScalars : kShareOfPixels);
    const uint32_t cut = loop_to_cut(copy.sliding.vector);
    const bool fits = is_open(copy.sliding.vector) || (cut != 0 && is_open(cut)) ? size_open_blocks(copy, cut, most)
                                                                                 : size_blocks(copy, cut, most);
    RELAXC_FITS(fits, "the copy is too large for the cache, and has no rows to be cut");
    if (copy.cut == 0) return copy;
    // Make it the outermost of the inner loops.
    const auto at = std::find(copy.inner.begin(), copy.inner.end(), cut);
    std::rotate(copy.inner.begin(), at, at + 1);
    RELAXC_FITS(can_be_placed(copy), "rows of the copy cannot be moved outside of its other loops");
    return copy;
  }

  bool size_blocks(ImageCopy& copy, uint32_t cut, int64_t most) const {
    const int64_t rows = cut == 0 ? 1 : extent(cut);
    int64_t blocks = (bytes() + most - 1) / most;
    if (!window_.sharing.empty() && !by_channels_) blocks = std::max(blocks, kLeastBlocks);
    blocks = std::min(blocks, (rows + kLeastRows - 1) / kLeastRows);
    if (blocks > 1) copy.cut = cut, copy.rows = (rows + blocks - 1) / blocks;
    return cut != 0 || blocks <= 1;
  }

  /// Sizes blocks of open rows and columns, halving them until the copy fits the cache.
  bool size_open_blocks(ImageCopy& copy, uint32_t cut, int64_t most) const {
    const uint32_t vector = copy.sliding.vector;
    const int64_t most_rows = window_.sharing.empty() ? kOpenRowsOfChannel : kOpenImageRows;
    int64_t rows = cut == 0 ? 1 : std::min(extent(cut), most_rows), columns = extent(vector);
    const auto is_large = [&] { return bytes(cut, rows, vector, columns) > most; };
    if (by_channels_) {  // the whole filter is read for each block, which should have many pixels
      const int64_t all = rows;
      const auto shrink_rows = [&] {
        for (rows = all; rows > std::min(kLeastRows, all) && is_large();) --rows;
        return is_large();
      };
      while (shrink_rows() && is_open(vector) && columns > lanes_) columns /= 2;
    }
    while (rows > 1 && is_large()) rows /= 2;
    while (is_open(vector) && columns > lanes_ && is_large()) columns /= 2;
    const auto may_be_wider = [&] {
      return columns < kMostOpenVectors * lanes_ && bytes(cut, rows, vector, columns * 2) <= most;
    };
    while (is_open(vector) && !by_channels_ && may_be_wider()) columns *= 2;
    if (cut != 0 && (is_open(cut) || rows < extent(cut))) copy.cut = cut, copy.rows = rows;
    if (is_open(vector)) copy.columns = columns;
    return bytes(cut, rows, vector, columns) <= most;
  }

  bool can_be_placed(const ImageCopy& copy) const {
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
  MostIterations blocks_;     ///< for loops with open extents
  Window window_;
};

Legal<ImageCopy> match_window_copy(const Draft& draft) {
  RELAXC_FITS(draft.reduction.room && draft.tree.may_allocate(), "there is no scratch memory");
  return WindowQuestions(draft).answer();
}

struct WindowCopy {
  ImageCopy copy;
  std::string axes;  ///< for explanations

  std::string text() const { return axes; }
  Legal<> carry_out(Draft& draft) const {
    Tree& tree = draft.tree;
    ReductionForm& form = draft.reduction;
    ImageCopy by = copy;
    uint32_t column_blocks = 0;
    if (copy.columns != 0) {
      RELAXC_STEP(column_blocks, cut_columns(draft, by));
    }
    RELAXC_LEGAL(reorder(draft, by));
    form.spatial = by.inner;
    if (by.cut != 0) {
      RELAXC_STEP(form.spatial[0], cut_rows(draft, by, column_blocks));
    }
    const Sliding& sliding = by.sliding;
    const auto window = window_of(tree, form.block, form.spatial, form.reduced);
    RELAXC_FITS(window, "a block of rows has no window of its own");
    // Scalars need no borders of whole vectors, which make a short row several times longer. Rows of open length are
    // stored in whole vectors.
    const bool whole = !by.by_channels || !window->dim_of(sliding.vector)->is_fixed();
    RELAXC_STEP(const CachedWindow made, apply(tree, CacheWindow{form.block, form.spatial[0], sliding.vector,
                                                                 form.spatial, form.reduced, whole ? form.lanes : 1}));
    RELAXC_LEGAL(apply(tree, StageLoads{made.block, 0}));
    RELAXC_LEGAL(vectorize_whole(tree, made.along, form.lanes, *draft.target));
    form.sliding = by.by_channels ? Sliding{.scalars = sliding.vector} : sliding;
    return Done{};
  }

 private:
  /// Returns the loop over blocks of columns, which is the innermost of those around the copy.
  static Legal<uint32_t> cut_columns(Draft& draft, ImageCopy& by) {
    const uint32_t columns = by.sliding.vector;
    RELAXC_STEP(const uint32_t blocks, apply(draft.tree, Chunk{columns, by.columns}));
    const uint32_t inner = draft.tree.loop(blocks).body.as<tir::For>()->id;
    std::vector<uint32_t>& spatial = draft.reduction.spatial;
    const auto at = std::find(spatial.begin(), spatial.end(), columns);
    *at = inner;
    spatial.insert(at, blocks);
    std::replace(by.inner.begin(), by.inner.end(), columns, inner);
    by.outer.push_back(blocks);
    by.sliding.vector = inner;
    return blocks;
  }

  static Legal<> reorder(Draft& draft, const ImageCopy& by) {
    Loops order = by.outer, inner = by.inner;
    const auto cut = std::find(inner.begin(), inner.end(), by.cut);
    if (cut != inner.end()) {
      // Reorder them as they were first; below, rows become the outermost of them.
      inner.clear();
      for (uint32_t loop : draft.reduction.spatial)
        if (std::find(by.inner.begin(), by.inner.end(), loop) != by.inner.end()) inner.push_back(loop);
    }
    order.insert(order.end(), inner.begin(), inner.end());
    if (order != draft.reduction.spatial) RELAXC_LEGAL(apply(draft.tree, Reorder{order}));
    if (by.cut == 0) return Done{};
    std::copy(by.inner.begin(), by.inner.end(), order.end() - static_cast<std::ptrdiff_t>(inner.size()));
    RELAXC_LEGAL(apply(draft.tree, Reorder{order}));
    return Done{};
  }

  /// Returns the loop over the rows of a block. Rows of a depthwise tile are unrolled, so a block has a known number of
  /// them if that of all rows is known. Each block of rows runs over all blocks of columns.
  static Legal<uint32_t> cut_rows(Draft& draft, ImageCopy& by, uint32_t column_blocks) {
    Tree& tree = draft.tree;
    const int64_t* all = tree.loop(by.cut).extent.constant();
    int64_t size = by.rows;
    if (by.sliding.rows == by.cut && all != nullptr && column_blocks == 0) {
      while (*all % size != 0) ++size;
      RELAXC_STEP(const SplitLoops made, apply(tree, Split{by.cut, size, Tail::kPeel}));
      by.sliding.rows = made.inner;
      return made.inner;
    }
    RELAXC_STEP(const uint32_t chunks, apply(tree, Chunk{by.cut, size}));
    const uint32_t inner = tree.loop(chunks).body.as<tir::For>()->id;
    if (by.sliding.rows == by.cut) by.sliding.rows = inner;
    if (all == nullptr) draft.open_blocks.push_back(chunks);
    if (column_blocks != 0) RELAXC_LEGAL(apply(tree, Reorder{{chunks, column_blocks}}));
    return inner;
  }
};

/// The reduction by whole vectors, and reading and writing the copy likewise.
double window_copy_cycles(const Draft& draft, const ImageCopy& copy) {
  const MachineModel& model = *draft.target;
  const double copied = 2 * copy.elements / static_cast<double>(draft.reduction.lanes) / model.loads_per_cycle;
  return ReductionView(draft).vector_steps() / model.fma_per_cycle + copied;
}

Legal<WindowCopy> plan_window_copy(const Draft& draft, const ImageCopy& copy) {
  std::string axes =
      fmt::format("{} along {}", copy.by_channels ? "scalars" : "vectors", explained_name(draft, copy.sliding.vector));
  if (copy.cut != 0) axes += fmt::format(", in blocks of {} rows", copy.rows);
  if (copy.columns != 0) axes += fmt::format("{} {} columns", copy.cut != 0 ? " and" : ", in blocks of", copy.columns);
  return WindowCopy{copy, std::move(axes)};
}

}  // namespace

std::span<const Strategy> window_copy_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "window_copy",
               .stage = Stage::kOperands,
               .priority = 20,
               .doc = "The window over which a filter slides is copied to scratch memory, in whole vectors with its "
                      "border filled in, where its elements are read often enough.",
               .propose = propose<match_window_copy, kForExplanation<window_copy_cycles>, plan_window_copy>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
