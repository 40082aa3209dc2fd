// matrix_dots.cpp: sums products of bytes by instructions that multiply two rows by two columns.
//
// smmla makes as many products as two usdot, for blocks of 2x2 sums. So neither axis of a tile is an axis of lanes:
// panels of columns are outermost, each is used for all rows, a few at a time, and consumers of the sums are computed
// on rows of the tile.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/simplify_subscripts.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/tensorize_dot8.h"
#include "compiler/schedule/primitives/tile_matrix_dots.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/pack_constants.h"
#include "compiler/schedule/strategies/parts/packed_word_sum.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/tile_loops.h"
#include "compiler/schedule/strategies/parts/vectors.h"

namespace relaxc::schedule {
namespace {

// Of 32 registers, 16 hold the 8 by 8 sums, and 8 hold operands, of two rows or columns each.
constexpr int64_t kMatrixRows = 8, kMatrixColumns = 8;

constexpr double kProductsOfMatrices = 32;  ///< products that smmla adds, of 2x8 by 8x2 bytes, by its definition

Legal<ReductionForm> match_matrices(const Draft& draft) {
  RELAXC_FITS(draft.target->byte_matrices, "the target has no instructions for matrices of bytes");
  RELAXC_STEP(const ReductionForm form, reduction_in(draft));
  RELAXC_FITS(form.room, "constants cannot be packed where nests may be duplicated");
  const auto* store = analysis::as_nest(form.group.reduction).block->body.as<tir::Store>();
  RELAXC_FITS(store != nullptr && store->buffer->dtype == DType::i(32), "it does not sum products in int32");
  return form;
}

/// The two axes of the result along each of which only one operand changes.
struct MatrixAxes {
  uint32_t row = 0, column = 0;
};

Legal<MatrixAxes> axes_of_matrix(const Draft& draft) {
  const ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  MatrixAxes axes;
  for (uint32_t loop : form.spatial) {
    const std::vector<BufferRef> along = view.operands_along(loop);
    const bool words =
        std::any_of(along.begin(), along.end(), [&](BufferRef b) { return view.original(b) == form.words; });
    const bool other =
        std::any_of(along.begin(), along.end(), [&](BufferRef b) { return view.original(b) != form.words; });
    if (words && !other) axes.column = loop;
    if (other && !words) axes.row = loop;
  }
  RELAXC_FITS(axes.row != 0 && axes.column != 0, "the result has no rows and columns that share operands");
  RELAXC_FITS(view.extent(axes.column) != nullptr && *view.extent(axes.column) > 1, "there are no columns");
  return axes;
}

struct MatrixTiles {
  ReductionForm form;

  static std::string text() {
    return fmt::format("tiles of {} rows by {} columns, in blocks of 2x2", kMatrixRows, kMatrixColumns);
  }

  Legal<> carry_out(Draft& draft) const {
    Tree& tree = draft.tree;
    draft.reduction = form;
    RELAXC_LEGAL(reorder_axes(draft));
    RELAXC_LEGAL(fuse_neighbours(tree, draft.reduction.spatial));
    RELAXC_LEGAL(fuse_neighbours(tree, draft.reduction.reduced));
    RELAXC_FITS(ReductionView(draft).updates(), "it is not a sum");
    RELAXC_STEP(const WordsOf of, match_packed_words(draft, kByteOctets, "bytes, eight of them,"));
    RELAXC_STEP(const BufferRef words,
                apply(tree, TensorizeDot8{draft.reduction.block, draft.reduction.reduced.back()}));
    RELAXC_LEGAL(read_packed_words(draft, of, words));
    RELAXC_STEP(const MatrixAxes axes, axes_of_matrix(draft));
    RELAXC_LEGAL(move_inside(draft, axes));
    RELAXC_LEGAL(scalar_replace_results(draft));
    return in_tiles(draft, axes);
  }

 private:
  /// Makes columns and rows the innermost loops of the result.
  static Legal<> move_inside(Draft& draft, const MatrixAxes& axes) {
    std::vector<uint32_t>& spatial = draft.reduction.spatial;
    std::vector<uint32_t> order;
    for (uint32_t loop : spatial)
      if (loop != axes.row && loop != axes.column) order.push_back(loop);
    order.push_back(axes.column), order.push_back(axes.row);
    const std::vector<uint32_t> moved(std::mismatch(order.begin(), order.end(), spatial.begin()).first, order.end());
    if (!moved.empty()) RELAXC_LEGAL(apply(draft.tree, Reorder{moved}));
    spatial = order;
    return Done{};
  }

  static Legal<> in_tiles(Draft& draft, const MatrixAxes& axes) {
    Tree& tree = draft.tree;
    const int64_t count = *ReductionView(draft).extent(axes.column),
                  panel = std::min(kMatrixColumns, (count + 1) / 2 * 2);
    std::vector<BufferRef> packed;
    RELAXC_LEGAL(pack_along(draft, axes.column, panel, packed));
    RELAXC_FITS(ReductionView(draft).words_are_packed(), "the constant that is read in words could not be packed");
    RELAXC_STEP(const SplitLoops panels, apply(tree, Split{axes.column, panel, Tail::kPeel}));
    if (panels.inner != 0) RELAXC_LEGAL(tiles_of_panel(tree, panels.inner, axes.row));
    if (panels.tail != 0) RELAXC_LEGAL(tiles_of_panel(tree, panels.tail, panels.copies.loops.at(axes.row)));
    for (BufferRef buffer : packed) RELAXC_LEGAL(apply(tree, SimplifySubscripts{buffer}));
    return Done{};
  }

  static Legal<> tiles_of_panel(Tree& tree, uint32_t columns, uint32_t rows) {
    RELAXC_LEGAL(apply(tree, Reorder{{rows, columns}}));
    RELAXC_STEP(const std::vector<AxisPart> parts, split_axis(tree, rows, kMatrixRows));
    for (const AxisPart& part : parts) {
      const auto copy = part.copies.loops.find(columns);
      const uint32_t own = copy == part.copies.loops.end() ? columns : copy->second;
      RELAXC_LEGAL(apply(tree, TileMatrixDots{part.inner, own}));
    }
    return Done{};
  }
};

/// Loads, two for four instructions, are hidden behind these.
double matrix_cycles(const Draft& draft, const ReductionForm& form) {
  return terms_of(form.group.reduction) / kProductsOfMatrices / draft.target->fma_per_cycle;
}

Legal<MatrixTiles> plan_matrices(const Draft&, const ReductionForm& form) {
  return MatrixTiles{form};
}

}  // namespace

std::span<const Strategy> matrix_dots_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "matrix_dots",
               .stage = Stage::kNests,
               .priority = 45,
               .doc = "Products of bytes by a constant, where the target multiplies two rows by two columns of eight "
                      "bytes at once: tiles of 2x2 sums, consumers applied to the tile, the constant packed in words.",
               .propose = propose<match_matrices, matrix_cycles, plan_matrices>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
