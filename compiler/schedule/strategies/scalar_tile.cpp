// scalar_tile.cpp: schedules reductions on targets without vectors, a few elements of the result at a time.
//
// A single element loads two operands for each product. Elements that share operands, such as two outputs of two
// pixels, need half or a quarter of the loads, and all of their sums stay in registers. If the target multiplies pairs
// of 16-bit numbers (Arm's DSP extension), bytes along the sum are read four at a time: a word of each operand is
// widened once for the whole tile. Thumb in Cortex-M0 and M23 multiplies in eight registers and can add in others:
// there, four sums are over runs of bytes (parts/run_tile.cpp).
//
// Method: the register tile of Goto & van de Geijn 2008 with registers of one element; Lai et al. 2018 (CMSIS-NN) have
// the 2x2 tile for SMLAD. Sums keep their order, except in words, where integers make it irrelevant.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "compiler/arith/math.h"
#include "compiler/arith/visit.h"
#include "compiler/schedule/primitives/jam.h"
#include "compiler/schedule/primitives/simplify_subscripts.h"
#include "compiler/schedule/primitives/stage_loads.h"
#include "compiler/schedule/primitives/tensorize_dot4.h"
#include "compiler/schedule/primitives/unroll.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/pack_constants.h"
#include "compiler/schedule/strategies/parts/packed_word_sum.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/run_tile.h"
#include "compiler/schedule/strategies/parts/scalar_reduction.h"
#include "compiler/schedule/strategies/parts/tile_loops.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/parts/wide_tile.h"
#include "compiler/schedule/strategies/strategy.h"
#include "targets/isa_features.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr int64_t kMostStraightTaps = 5;     ///< maximum that is unrolled
constexpr int32_t kFewScalarRegisters = 12;  ///< fewer hold two sums with operands and addresses
constexpr int32_t kManyRegisters = 24;       ///< this many hold sixteen sums
constexpr int64_t kManySums = 16;            ///< tiles of this many sums compute results in a loop for small code

/// The loops of the result whose iterations share an operand; 0 if there is none.
struct TileAxes {
  uint32_t rows = 0, columns = 0;
};

/// The innermost axis that shares an operand, and the innermost one that shares a different one.
TileAxes axes_of(const Draft& draft) {
  const ReductionView view(draft);
  const std::vector<uint32_t>& spatial = draft.reduction.spatial;
  TileAxes axes;
  std::vector<BufferRef> along;
  for (size_t i = spatial.size(); i-- > 0;) {
    const int64_t* extent = view.extent(spatial[i]);  // tails of an open one would be more code than it saves
    if (extent == nullptr || *extent < 2 || !view.has_invariant_operand(spatial[i])) continue;
    if (axes.columns == 0) {
      axes.columns = spatial[i], along = view.operands_along(spatial[i]);
    } else if (view.operands_along(spatial[i]) != along) {
      axes.rows = spatial[i];
      return axes;
    }
  }
  return axes;
}

/// Reads bytes along the sum's innermost axis in words, if the target has an instruction and a constant can be packed.
Legal<> read_in_words(Draft& draft) {
  ReductionForm& form = draft.reduction;
  if (draft.target->dots.bits128 == DotProduct::kNone) return Done{};
  const ReductionView view(draft);
  std::optional<WordsOf> of = find_words(draft.tree, form.block, form.reduced.back(), kByteWords);
  if (!of || of->in_lanes || !view.is_packable(view.original(of->buffer))) return Done{};
  of->buffer = view.original(of->buffer);
  form.words_of = *of;
  RELAXC_STEP(form.words, apply(draft.tree, TensorizeDot4{form.block, form.reduced.back()}));
  return drop_unit_loops(draft.tree, form.reduced);
}

/// Whether code for size keeps to one element. Only sums of floats do, since integer tiles read words or are loops in
/// assembly. Where arithmetic of floats is calls, whose time the loads of a tile do not show against, no -Os has one:
/// on riscv32imac, tiles took digits 2,788 bytes in place of 1,028 for 4% fewer instructions.
bool is_longer_in_tiles(const Draft& draft) {
  const bool floats = draft.tree.block(draft.reduction.block).body.as<tir::Store>()->buffer->dtype.is_float();
  return floats && (draft.options->smallest || (draft.options->small && uses_soft_float(*draft.target)));
}

/// Unrolls few taps along the innermost axis: adjacent elements then share what they read.
Legal<> unroll_few_taps(Draft& draft) {
  const uint32_t loop = draft.reduction.reduced.back();
  const int64_t* extent = draft.tree.loop(loop).extent.constant();
  if (draft.reduction.words != nullptr || extent == nullptr || *extent > kMostStraightTaps) return Done{};
  return apply(draft.tree, Unroll{loop});
}

struct TileSize {
  int64_t rows = 1, columns = 1;
};

/// For elements that share operands along two axes.
TileSize largest_tile(int32_t registers) {
  if (registers < kFewScalarRegisters) return {1, 2};
  return registers >= kManyRegisters ? TileSize{4, 4} : TileSize{2, 2};
}

/// As many elements as the registers hold in addition to a step's operands and their addresses. A row of elements has a
/// length that divides the extent, if there is one.
TileSize size_for(const Draft& draft, const TileAxes& axes) {
  const int32_t registers = draft.target->vector_registers;
  if (registers < kFewScalarRegisters || axes.rows != 0) return largest_tile(registers);
  const int64_t extent = *draft.tree.loop(axes.columns).extent.constant();
  for (const int64_t length : {4, 5, 3})
    if (extent % length == 0) return {1, length};
  return {1, 4};
}

/// For sums that are added in registers which hold nothing else.
TileSize run_tile(const TileAxes& axes) {
  return axes.rows != 0 ? TileSize{2, 2} : TileSize{1, 4};
}

class Tiling {
 public:
  Tiling(Draft& draft, const TileAxes& axes, const TileSize& size)
      : draft_(draft),
        tree_(draft.tree),
        axes_(axes),
        size_(size),
        reduced_(draft.reduction.reduced.begin(), draft.reduction.reduced.end()) {}

  Legal<> run() {
    RELAXC_LEGAL(pack_along(draft_, axes_.columns, size_.columns, packed_));
    if (axes_.rows != 0) RELAXC_LEGAL(pack_along(draft_, axes_.rows, size_.rows, packed_));
    return run_packed();
  }
  /// Constants are already in the order of the tile.
  Legal<> run_packed() {
    RELAXC_LEGAL(cut());
    const bool once = draft_.options->small && (size_.rows * size_.columns >= kManySums || calls_functions());
    for (uint32_t loop : loops_) {
      if (!once) RELAXC_LEGAL(apply(tree_, Unroll{loop}));
      RELAXC_LEGAL(apply(tree_, Jam{loop}));
    }
    if (once) RELAXC_LEGAL(unroll_sums());
    for (BufferRef buffer : packed_) RELAXC_LEGAL(apply(tree_, SimplifySubscripts{buffer}));
    return Done{};
  }

 private:
  /// Whether consumers of a sum call functions such as exp, each of which is some hundred bytes of code.
  bool calls_functions() const {
    bool any = false;
    tir::for_each_stmt(tree_.root(), [&](Stmt s) {
      for (arith::Expr e : tir::expressions(s))
        arith::for_each_node(e, [&](arith::Expr node) {
          const auto* call = node.as<arith::Call>();
          any |= call != nullptr && arith::is_expandable(call->intrinsic);
        });
    });
    return any;
  }

  /// Unrolls what the reduction repeats; the code before and after the sums stays in loops.
  Legal<> unroll_sums() {
    std::vector<uint32_t> inside;
    tir::for_each_stmt(tree_.root(), [&](Stmt s) {
      const auto* sum = s.as<tir::For>();
      if (sum == nullptr || reduced_.count(sum->id) == 0) return;
      tir::for_each_stmt(sum->body, [&](Stmt of_sum) {
        const auto* loop = of_sum.as<tir::For>();
        if (loop == nullptr || reduced_.count(loop->id) != 0) return;
        if (std::find(inside.begin(), inside.end(), loop->id) == inside.end()) inside.push_back(loop->id);
      });
    });
    for (uint32_t loop : inside) RELAXC_LEGAL(apply(tree_, Unroll{loop}));
    return Done{};
  }

  /// Splits the outer axis first, then the inner one in each of its parts.
  Legal<> cut() {
    const std::vector<uint32_t>& spatial = draft_.reduction.spatial;
    const auto place = [&](uint32_t loop) { return std::find(spatial.begin(), spatial.end(), loop); };
    if (axes_.rows == 0) {
      RELAXC_LEGAL(cut(axes_.columns, size_.columns));
      return Done{};
    }
    const bool rows_outside = place(axes_.rows) < place(axes_.columns);
    const uint32_t outer = rows_outside ? axes_.rows : axes_.columns;
    const uint32_t inner = rows_outside ? axes_.columns : axes_.rows;
    RELAXC_STEP(const std::vector<AxisPart> parts, cut(outer, rows_outside ? size_.rows : size_.columns));
    for (const AxisPart& part : parts) {
      auto copy = part.copies.loops.find(inner);
      const uint32_t loop = copy == part.copies.loops.end() ? inner : copy->second;
      RELAXC_LEGAL(cut(loop, rows_outside ? size_.columns : size_.rows));
    }
    return Done{};
  }

  Legal<std::vector<AxisPart>> cut(uint32_t loop, int64_t factor) {
    RELAXC_STEP(std::vector<AxisPart> parts, split_axis(tree_, loop, factor));
    for (const AxisPart& part : parts) {
      if (part.inner != 0) loops_.push_back(part.inner);
      for (const auto& [from, to] : part.copies.loops)
        if (reduced_.count(from) != 0) reduced_.insert(to);
    }
    return parts;
  }

  Draft& draft_;
  Tree& tree_;
  const TileAxes axes_;
  const TileSize size_;
  std::vector<uint32_t> loops_;  ///< loops of a tile
  std::set<uint32_t> reduced_;   ///< loops of the reduction, in all parts; never iterated
  std::vector<BufferRef> packed_;
};

struct ScalarTile {
  ReductionForm form;

  static std::string text() { return "a few elements that share operands, their sums in registers"; }
  Legal<> carry_out(Draft& draft) const {
    RELAXC_LEGAL(begin_scalars(draft, form));
    RELAXC_LEGAL(fuse_neighbours(draft.tree, draft.reduction.spatial));
    RELAXC_LEGAL(fuse_neighbours(draft.tree, draft.reduction.reduced));
    const TileAxes axes = axes_of(draft);
    RELAXC_FITS(axes.columns != 0, "no two elements share an operand");
    RELAXC_LEGAL(read_in_words(draft));
    RELAXC_FITS(!is_longer_in_tiles(draft), "a tile is longer than one element");
    RELAXC_LEGAL(apply(draft.tree, StageLoads{draft.reduction.block, 0}));
    RELAXC_LEGAL(scalar_replace_results(draft));
    if (axes.rows == 0) RELAXC_LEGAL(unroll_few_taps(draft));
    RELAXC_STEP(const bool in_runs, takes_runs(draft, axes.rows, axes.columns));
    TileSize size = in_runs ? run_tile(axes) : size_for(draft, axes);
    RELAXC_STEP(const int64_t wide, widened(draft, axes));
    if (wide > 0) size = {wide, 1};
    if (!draft.considered.empty() && draft.considered.back().taken)
      draft.considered.back().plan += fmt::format("; {} by {}", size.rows, size.columns);
    if (wide == 0 && in_runs)
      RELAXC_LEGAL(Tiling(draft, axes, size).run_packed());
    else if (wide == 0)
      RELAXC_LEGAL(Tiling(draft, axes, size).run());
    RELAXC_FITS(ReductionView(draft).words_are_packed(), "the constant that is read in words could not be packed");
    return Done{};
  }

 private:
  /// Number of rows of a tile whose bytes are widened before all columns that read them; 0 for none.
  static Legal<int64_t> widened(Draft& draft, const TileAxes& axes) {
    const std::vector<uint32_t>& spatial = draft.reduction.spatial;
    const auto place = [&](uint32_t loop) { return std::find(spatial.begin(), spatial.end(), loop); };
    if (axes.rows == 0 || place(axes.rows) > place(axes.columns)) return int64_t{0};
    return tile_of_wide_rows(draft, axes.rows, axes.columns);
  }
};

/// A tile of r x c sums loads r + c operands for r * c products, for which single elements load 2 * r * c.
double scalar_tile_cycles(const Draft& draft, const ReductionForm& form) {
  const TileSize size = largest_tile(draft.target->vector_registers);
  const auto rows = static_cast<double>(size.rows), columns = static_cast<double>(size.columns);
  return scalar_cycles(draft, form, 2 * rows * columns / (rows + columns));
}

Legal<ScalarTile> plan_scalar_tile(const Draft&, const ReductionForm& form) {
  return ScalarTile{form};
}

}  // namespace

std::span<const Strategy> scalar_tile_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "scalar_tile",
               .stage = Stage::kNests,
               .priority = 55,
               .doc = "On a target without vectors, a few elements of a reduction that share operands are computed "
                      "together, their sums in registers; by products of pairs of 16-bit numbers where the target has "
                      "them.",
               .propose = propose<match_scalars, kForExplanation<scalar_tile_cycles>, plan_scalar_tile>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
