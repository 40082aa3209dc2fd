// lane_sums.cpp: sums products of bytes by an instruction that adds the products of all lanes to a general register.
//
// Helium's vmladava multiplies sixteen bytes by sixteen of the same sign and adds the products to one register: a tile
// of one row by four columns takes nine instructions for 64 products, five of them loads. So a sum needs adjacent terms
// in both operands. The constant is packed that way. In data, terms are adjacent if channels come last, in runs of as
// many bytes as a row of the filter covers; if such a run is shorter than a vector (first layers of one or three
// channels), a pixel's input is first copied to one run, which serves all of its columns.
//
// Consumers of the sums are computed in vectors (tile_sums): columns are adjacent in results and in parameters of
// channels. Panels of columns are outermost, so that these parameters and the constant stay in cache for all rows.
//
// Rejected: two rows by four columns, which need eight registers with even numbers; there are seven besides the counter
// of a loop, and LLVM spills (docs/performance.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/arith/high_product.h"
#include "compiler/arith/walks.h"
#include "compiler/schedule/primitives/cache_read.h"
#include "compiler/schedule/primitives/drop_unit_loop.h"
#include "compiler/schedule/primitives/pair_terms.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/simplify_subscripts.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/tensorize_dot8.h"
#include "compiler/schedule/primitives/tile_sums.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/pack_constants.h"
#include "compiler/schedule/strategies/parts/packed_word_sum.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/tile_loops.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"
#include "targets/isa_features.h"

namespace relaxc::schedule {
namespace {

constexpr int64_t kTileRows = 1, kTileColumns = 4;  ///< as many as LLVM keeps in registers, see above
constexpr int64_t kLaneBytes = 16;                  ///< bytes that the instruction multiplies, by its definition
constexpr int64_t kWideLaneBytes = 8;               ///< the same for bytes that are widened first

using Loops = std::vector<uint32_t>;

Legal<ReductionForm> match_sums(const Draft& draft) {
  RELAXC_FITS(has_multiply_accumulate_across_vector(*draft.target),
              "the target does not add products of lanes to one sum");
  RELAXC_STEP(ReductionForm form, reduction_in(draft));
  RELAXC_FITS(form.room, "constants cannot be packed where nests may be duplicated");
  RELAXC_FITS(!form.spatial.empty(), "the result is a single element");
  const auto* store = analysis::as_nest(form.group.reduction).block->body.as<tir::Store>();
  RELAXC_FITS(store != nullptr && store->buffer->dtype == DType::i(32), "it does not sum products in int32");
  return form;
}

double sum_cycles(const Draft& draft, const ReductionForm& form) {
  return terms_of(form.group.reduction) / kLaneBytes / draft.target->fma_per_cycle;
}

/// The operands of the products that are summed.
struct SumFactors {
  BufferRef data = nullptr, constant = nullptr;
};

Legal<SumFactors> factors_of(const Draft& draft) {
  const ReductionView view(draft);
  SumFactors found;
  bool two = true;
  for_each_access(view.summed(), [&](const Access& access) {
    if (access.buffer == view.store().buffer) return;
    BufferRef& place = view.is_packable(view.original(access.buffer)) ? found.constant : found.data;
    two &= place == nullptr && access.buffer->dtype.is_integer() && access.buffer->dtype.bits == 8;
    place = access.buffer;
  });
  RELAXC_FITS(two && found.data != nullptr && found.constant != nullptr,
              "it sums no products of bytes by a constant that can be packed");
  return found;
}

/// The loops of the result along which only one operand changes; 0 if there is none.
struct SumAxes {
  uint32_t row = 0, column = 0;
};

Legal<SumAxes> sum_axes(const Draft& draft, const SumFactors& factors) {
  const ReductionView view(draft);
  SumAxes axes;
  for (uint32_t loop : draft.reduction.spatial) {
    const std::vector<BufferRef> along = view.operands_along(loop);
    const auto changes = [&](BufferRef b) { return std::find(along.begin(), along.end(), b) != along.end(); };
    if (changes(factors.constant) && !changes(factors.data)) axes.column = loop;
    if (changes(factors.data) && !changes(factors.constant)) axes.row = loop;
  }
  RELAXC_FITS(axes.column != 0, "no elements of the result share data");
  const int64_t* columns = view.extent(axes.column);
  RELAXC_FITS(columns != nullptr && *columns > 1, "the number of columns is open");
  return axes;
}

/// The number of steps for a run of bytes.
int64_t lane_steps(int64_t run) {
  return run / kLaneBytes + (run % kLaneBytes + kWideLaneBytes - 1) / kWideLaneBytes;
}

/// Whether copying a pixel's input to one run pays.
bool copies_windows(const Draft& draft, const SumAxes& axes) {
  const ReductionView view(draft);
  const Loops& reduced = draft.reduction.reduced;
  if (reduced.size() < 2 || !draft.tree.may_allocate()) return false;
  int64_t runs = 1;
  for (uint32_t loop : reduced) {
    if (view.extent(loop) == nullptr) return false;
    runs *= loop == reduced.back() ? 1 : *view.extent(loop);
  }
  const int64_t run = *view.extent(reduced.back());
  const MachineModel& machine = *draft.target;
  const double saved =
      static_cast<double>((runs * lane_steps(run) - lane_steps(runs * run)) * *view.extent(axes.column));
  const double copied =
      static_cast<double>(runs) * (machine.byte_run_cycles + machine.byte_copy_cycles * static_cast<double>(run));
  return run < kWideLaneBytes || saved * machine.lane_sum_cycles > copied;
}

/// Whether consumers compute in 64 bits, for which vectors have few lanes and no products. Rounded upper halves of
/// 32-bit products do not count: they are an instruction.
bool wide_arithmetic(const Draft& draft) {
  bool found = false;
  const auto computed_from = [](Expr e) {
    const auto product = arith::as_high_product(e);
    return product && product->rounded ? std::vector<Expr>{product->a, product->b} : arith::operands(e);
  };
  for (Stmt consumer : draft.reduction.group.consumers)
    tir::for_each_stmt(consumer, [&](Stmt s) {
      for (Expr e : tir::expressions(s))
        arith::for_each_node(e, computed_from,
                             [&](Expr node) { found |= !node.dtype().is_index() && node.dtype().bits > 32; });
    });
  return found;
}

class LaneTiling {
 public:
  explicit LaneTiling(Draft& draft) : draft_(draft), tree_(draft.tree) {}

  Legal<> run() {
    RELAXC_STEP(const SumFactors factors, factors_of(draft_));
    RELAXC_STEP(axes_, sum_axes(draft_, factors));
    data_ = factors.data;
    const bool copies = copies_windows(draft_, axes_);
    RELAXC_LEGAL(move_inside(copies));
    if (copies) {
      RELAXC_LEGAL(apply(tree_, CacheRead{data_, axes_.column}));
      RELAXC_LEGAL(fuse_neighbours(tree_, draft_.reduction.reduced));
      RELAXC_STEP(const SumFactors copied, factors_of(draft_));
      data_ = copied.data;
    }
    RELAXC_LEGAL(read_in_words());
    RELAXC_LEGAL(scalar_replace_results(draft_));
    RELAXC_LEGAL(in_tiles());
    return Done{};
  }

 private:
  /// Reads words of eight bytes, two at once while both are whole: if a last word overlaps the one before, the two are
  /// not adjacent.
  Legal<> read_in_words() {
    ReductionForm& form = draft_.reduction;
    const ReductionView view(draft_);
    std::optional<WordsOf> of = find_words(tree_, form.block, form.reduced.back(), kByteOctets);
    RELAXC_FITS(of && !of->in_lanes, "terms of the sum are not side by side in runs of eight bytes or more");
    of->buffer = view.original(of->buffer);
    RELAXC_FITS(view.is_packable(of->buffer), "neither operand is a constant that can be packed");
    const uint32_t loop = form.reduced.back();
    RELAXC_STEP(const BufferRef words, apply(tree_, TensorizeDot8{form.block, loop}));
    RELAXC_LEGAL(read_packed_words(draft_, *of, words));
    return Done{};
  }

  /// Only after packing, which makes the words of a column adjacent.
  Legal<> pair_words() {
    ReductionForm& form = draft_.reduction;
    const int64_t pairs = form.words_of.extent / kLaneBytes;
    const uint32_t loop = form.reduced.back();
    const int64_t* words = tree_.loop(loop).extent.constant();
    if (pairs == 0 || words == nullptr) return Done{};
    uint32_t whole = loop;
    for (int64_t left = *words; left > 2 * pairs;) {
      // Make one tile and a rest: half of the words or fewer would make two tiles.
      const int64_t kept = 4 * pairs <= left ? left - 1 : 2 * pairs;
      RELAXC_STEP(const SplitLoops parts, apply(tree_, Split{whole, kept, Tail::kPeel}));
      RELAXC_LEGAL(apply(tree_, DropUnitLoop{parts.outer}));
      whole = parts.inner, left = kept;
    }
    RELAXC_STEP(const SplitLoops two, apply(tree_, Split{whole, 2, Tail::kPeel}));
    RELAXC_LEGAL(apply(tree_, PairTerms{form.block, two.inner}));
    if (pairs == 1) RELAXC_LEGAL(apply(tree_, DropUnitLoop{two.outer}));
    return apply(tree_, SimplifySubscripts{data_});  // the subscript of a last word is a minimum
  }

  /// Makes columns and rows the innermost loops of the result; only columns if their input is copied.
  Legal<> move_inside(bool copies) {
    Loops& spatial = draft_.reduction.spatial;
    Loops order;
    for (uint32_t loop : spatial)
      if (loop != axes_.row && loop != axes_.column) order.push_back(loop);
    if (axes_.row != 0) order.push_back(axes_.row);
    order.insert(order.end() - (axes_.row != 0 && !copies ? 1 : 0), axes_.column);
    const Loops moved(std::mismatch(order.begin(), order.end(), spatial.begin()).first, order.end());
    if (!moved.empty()) RELAXC_LEGAL(apply(tree_, Reorder{moved}));
    spatial = order;
    if (copies) axes_.row = 0;
    return Done{};
  }

  Legal<> in_tiles() {
    const int64_t panel = std::min(kTileColumns, *ReductionView(draft_).extent(axes_.column));
    std::vector<BufferRef> packed;
    RELAXC_LEGAL(pack_along(draft_, axes_.column, 1, packed));
    RELAXC_FITS(ReductionView(draft_).words_are_packed(), "the constant that is read in words could not be packed");
    RELAXC_LEGAL(pair_words());
    RELAXC_STEP(const SplitLoops panels, apply(tree_, Split{axes_.column, panel, Tail::kPeel}));
    if (panels.inner != 0) RELAXC_LEGAL(tiles_of_panel(panels.inner, axes_.row));
    if (panels.tail != 0)
      RELAXC_LEGAL(tiles_of_panel(panels.tail, axes_.row == 0 ? 0 : panels.copies.loops.at(axes_.row)));
    for (BufferRef buffer : packed) RELAXC_LEGAL(apply(tree_, SimplifySubscripts{buffer}));
    return Done{};
  }

  Legal<> tiles_of_panel(uint32_t columns, uint32_t rows) {
    const int64_t lanes = wide_arithmetic(draft_) ? 1 : draft_.reduction.lanes;
    if (rows == 0) return apply(tree_, TileSums{0, columns, lanes});
    RELAXC_LEGAL(apply(tree_, Reorder{{rows, columns}}));
    RELAXC_STEP(const std::vector<AxisPart> parts, split_axis(tree_, rows, kTileRows));
    for (const AxisPart& part : parts) {
      const auto copy = part.copies.loops.find(columns);
      const uint32_t own = copy == part.copies.loops.end() ? columns : copy->second;
      RELAXC_LEGAL(apply(tree_, TileSums{part.inner, own, lanes}));
    }
    return Done{};
  }

  Draft& draft_;
  Tree& tree_;
  SumAxes axes_;
  BufferRef data_ = nullptr;
};

struct LaneSums {
  ReductionForm form;

  static std::string text() {
    return fmt::format("{} by {} sums in general registers, consumers in lanes", kTileRows, kTileColumns);
  }
  Legal<> carry_out(Draft& draft) const {
    draft.reduction = form;
    RELAXC_LEGAL(reorder_axes(draft));
    RELAXC_FITS(ReductionView(draft).updates(), "it is not a sum");
    RELAXC_LEGAL(fuse_neighbours(draft.tree, draft.reduction.spatial));
    RELAXC_LEGAL(fuse_neighbours(draft.tree, draft.reduction.reduced));
    return LaneTiling(draft).run();
  }
};

Legal<LaneSums> plan_sums(const Draft&, const ReductionForm& form) {
  return LaneSums{form};
}

}  // namespace

std::span<const Strategy> lane_sums_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "lane_sums",
               .stage = Stage::kNests,
               .priority = 47,
               .doc = "Sums of products of bytes by a constant, where the target adds the products of all lanes to a "
                      "general register: tiles of sums, consumers in lanes, the constant packed in words, what a pixel "
                      "reads copied where it lies in short runs.",
               .propose = propose<match_sums, kForExplanation<sum_cycles>, plan_sums>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
