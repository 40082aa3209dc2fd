// gemm_tile.cpp: register tiles with one axis of the result in lanes and another unrolled: most reductions.
//
// An axis of the result along which every operand is contiguous or invariant goes into vector lanes. An axis along
// which the vector operand is invariant is unrolled, so that each loaded vector is used once per row of the tile: for a
// matrix product these are columns and rows, for a convolution pixels and output channels. A tile starts with the
// neutral element and ends with the consumers, so neither makes a pass over memory.
//
// Method: Goto & van de Geijn 2008 for the tile; Zhang et al. 2018 (high performance zero-memory overhead direct
// convolutions) for treating convolutions in the same way.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "compiler/schedule/primitives/chunk.h"
#include "compiler/schedule/primitives/fuse.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/strategies/parts/operand_panels.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/register_tile.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/parts/wide_rows.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr double kMostCost = 8;             ///< maximum, relative to whole vectors everywhere, for which vectors pay
constexpr double kManyCaches = 8;           ///< results of this many times the second level of cache go to memory
constexpr int64_t kRereadShare = 2;         ///< a known operand of 1 / this of the second level may be read repeatedly
constexpr int64_t kRunShare = 2;            ///< the operand of a run may take 1 / this of the second level
constexpr double kMostUnrolledTerms = 25;   ///< maximum terms of a sum over an image in registers
constexpr int64_t kLeastRowsPerVector = 3;  ///< two do not pay for masked loads that cross cache lines

using Loops = std::vector<uint32_t>;

// ---- selection of axes

/// The axis along which most operands of the vector are invariant; 0 if there is no other axis.
uint32_t axis_to_unroll(const Draft& draft, uint32_t vector) {
  const ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  if (form.sliding.rows != 0) return form.sliding.rows;
  const std::vector<BufferRef> along_vector = view.operands_along(vector);
  uint32_t best = 0;
  std::ptrdiff_t most = 0;
  for (uint32_t loop : form.spatial) {
    if (loop == vector || draft.tree.loop(loop).extent.is_constant(1)) continue;
    const std::vector<BufferRef> along = view.operands_along(loop);
    const auto reused = std::count_if(along_vector.begin(), along_vector.end(), [&](BufferRef b) {
      return std::find(along.begin(), along.end(), b) == along.end();
    });
    if (reused >= most && !along_vector.empty() && reused > 0) most = reused, best = loop;
  }
  if (best != 0) return best;
  // No operand is invariant along any axis; one of known extent has no remaining rows.
  const auto at = std::find(form.spatial.begin(), form.spatial.end(), vector);
  for (auto it = at; it != form.spatial.begin(); --it)
    if (const int64_t* extent = view.extent(*(it - 1)); extent != nullptr && *extent > 1) return *(it - 1);
  return at == form.spatial.begin() ? 0 : *(at - 1);
}

/// The approximate number of elements of operands that change along a loop; unknown dims are left out.
double elements_along(const Draft& draft, uint32_t loop) {
  double total = 0;
  for (BufferRef buffer : ReductionView(draft).operands_along(loop)) total += elements_of(buffer);
  return total;
}

/// Whether the operand of the rows is read once, and the one of the columns for each tile of rows. By default, this is
/// so if the former is the larger one. If only the number of columns is open, it may be large: then rows are read again
/// for each tile of columns as long as they stay in the second level of cache.
bool rows_are_outside(const Draft& draft, uint32_t rows, uint32_t columns) {
  const ReductionView view(draft);
  const auto is_open = [](BufferRef buffer) {
    return std::any_of(buffer->shape.begin(), buffer->shape.end(), [](Expr dim) { return dim.constant() == nullptr; });
  };
  const std::vector<BufferRef> along_rows = view.operands_along(rows), along_columns = view.operands_along(columns);
  const bool only_columns_open = view.extent(columns) == nullptr &&
                                 std::any_of(along_columns.begin(), along_columns.end(), is_open) &&
                                 std::none_of(along_rows.begin(), along_rows.end(), is_open);
  if (only_columns_open && draft.target->l2_bytes != 0) {
    double bytes = 0;
    for (BufferRef buffer : along_rows) bytes += elements_of(buffer) * buffer->dtype.bytes();
    return bytes > static_cast<double>(draft.target->l2_bytes / kRereadShare);
  }
  return elements_along(draft, rows) > elements_along(draft, columns);
}

// ---- order of loops

/// The part of `order` from the first loop that differs from the current order.
Loops moved_of(const Loops& order, const Loops& now) {
  return {std::mismatch(order.begin(), order.end(), now.begin()).first, order.end()};
}

/// An order in which loops along which no operand of the outer axis changes are between the two axes, so that these
/// operands are reused. nullopt if views between the loops (after axes were fused) prevent it.
std::optional<Loops> spatial_order(const Draft& draft, uint32_t vector, uint32_t unrolled, bool rows_outside) {
  const Loops& spatial = draft.reduction.spatial;
  const ReductionView view(draft);
  Loops order, between;
  const std::vector<BufferRef> along_outer = view.operands_along(rows_outside ? unrolled : vector);
  for (uint32_t loop : spatial) {
    if (loop == unrolled || loop == vector) continue;
    bool dependent = draft.tree.loop(loop).extent.is_constant(1);  // its position does not matter
    for (BufferRef b : view.operands_along(loop))
      dependent |= std::find(along_outer.begin(), along_outer.end(), b) != along_outer.end();
    (dependent ? order : between).push_back(loop);
  }
  order.push_back(rows_outside ? unrolled : vector);
  order.insert(order.end(), between.begin(), between.end());
  order.push_back(rows_outside ? vector : unrolled);
  // Loops at the front that stay need not be touched, whatever is between them and the rest.
  const Loops moved = moved_of(order, spatial);
  if (!moved.empty() && !can_reorder(draft.tree, moved)) return {};
  return order;
}

// ---- runs of the result

/// The buffers of which each row of the result reads or writes its own part: the result, and what is added to it.
std::vector<BufferRef> streams_along(const Draft& draft) {
  const ReductionView view(draft);
  const Var vector = view.var(draft.reduction.vector), row = view.var(draft.reduction.unrolled);
  std::vector<BufferRef> found;
  for_each_access(view.inner_body(), [&](const Access& access) {
    bool columns = false, rows = false;
    for (Expr index : access.indices) columns |= depends_on(index, vector), rows |= depends_on(index, row);
    const bool memory = access.buffer->scope != tir::Scope::kLocal && !view.non_escaping(access.buffer);
    const bool known = std::find(found.begin(), found.end(), access.buffer) != found.end();
    if (columns && rows && memory && !known) found.push_back(access.buffer);
  });
  return found;
}

bool writes_much(const Draft& draft) {
  const ReductionView view(draft);
  const Target& target = *draft.target;
  const int64_t* rows = view.extent(draft.reduction.unrolled);
  if (draft.reduction.sliding.vector != 0 || rows == nullptr) return false;
  if (view.terms() > target.memory_store_cycles * target.fma_per_cycle) return false;
  const std::vector<BufferRef> streams = streams_along(draft);
  double bytes = 0;
  for (BufferRef buffer : streams) bytes += assumed_elements_of(buffer, draft.tree.facts()) * buffer->dtype.bytes();
  return *rows * static_cast<int64_t>(streams.size()) > kMostTileRows &&
         bytes > kManyCaches * static_cast<double>(target.l2_bytes);
}

/// Whether the loop's iterations are adjacent rows of the result.
bool follow_each_other(const ReductionView& view, uint32_t loop, int64_t row) {
  return view.extent(loop) != nullptr && step_of(view.store().buffer, view.store().indices, view.var(loop)) == row;
}

/// Number of iterations that make a run, each of `unit` elements; 0 if there is no suitable number.
int64_t length_of_runs(const Draft& draft, uint32_t loop, int64_t unit) {
  const ReductionView view(draft);
  const Target& target = *draft.target;
  const int64_t extent = *view.extent(loop), lanes = draft.reduction.lanes;
  const int64_t bytes = static_cast<int64_t>(view.terms()) * unit * view.store().buffer->dtype.bytes();
  int64_t found = 0;
  for (int64_t length = std::min(target.l2_bytes / kRunShare / bytes, extent);
       length * unit >= target.memory_run_elements; --length)
    if (extent % length == 0 && (found == 0 || (unit == 1 && found % lanes != 0 && length % lanes == 0)))
      found = length;
  return found;
}

/// The same as `write_in_runs` if the number of columns is open: the last run has fewer.
Legal<> write_in_open_runs(Draft& draft) {
  Tree& tree = draft.tree;
  ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  const auto at = std::find(form.spatial.begin(), form.spatial.end(), form.vector);
  const int64_t unit = kMostTileVectors * form.lanes, bytes = view.store().buffer->dtype.bytes();
  const int64_t fit = draft.target->l2_bytes / kRunShare / (static_cast<int64_t>(view.terms()) * bytes);
  const int64_t length = fit / unit * unit;
  Loops moved(at, form.spatial.end());
  if (length < draft.target->memory_run_elements || !can_reorder(tree, moved)) return Done{};
  RELAXC_STEP(const uint32_t runs, apply(tree, Chunk{form.vector, length}));
  form.vector = tree.loop(runs).body.as<tir::For>()->id;
  moved[0] = form.vector;
  std::rotate(moved.begin(), moved.begin() + 1, moved.end());
  RELAXC_LEGAL(apply(tree, Reorder{moved}));
  *at = runs;
  form.spatial.erase(at + 1, form.spatial.end());
  form.spatial.insert(form.spatial.end(), moved.begin(), moved.end());
  return Done{};
}

/// If sums have so few terms that writing them takes longer than adding, each row of tiles writes a long run of
/// columns, whose operand stays in the second level of cache.
Legal<> write_in_runs(Draft& draft) {
  Tree& tree = draft.tree;
  ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  auto at = std::find(form.spatial.begin(), form.spatial.end(), form.vector);
  if (!writes_much(draft)) return Done{};
  if (view.extent(form.vector) == nullptr) return write_in_open_runs(draft);
  // Short rows that are adjacent in the result make a run together.
  int64_t row = *view.extent(form.vector), inner = 1;
  const bool is_long = row >= draft.target->memory_run_elements;
  if (is_long || at == form.spatial.begin() || !follow_each_other(view, *(at - 1), row))
    row = 1;
  else
    --at, ++inner;
  const int64_t length = length_of_runs(draft, *at, row);
  Loops moved(at, form.spatial.end());
  if (length == 0 || !can_reorder(tree, moved)) return Done{};
  if (!tree.loop(*at).extent.is_constant(length)) {
    RELAXC_STEP(const SplitLoops runs, apply(tree, Split{*at, length, Tail::kPeel}));
    *at++ = runs.outer;
    moved[0] = runs.inner;
    if (inner == 1) form.vector = runs.inner;
  }
  std::rotate(moved.begin(), moved.begin() + inner, moved.end());
  RELAXC_LEGAL(apply(tree, Reorder{moved}));
  form.spatial.erase(at, form.spatial.end());
  form.spatial.insert(form.spatial.end(), moved.begin(), moved.end());
  return Done{};
}

// ---- the plan

struct GemmTile {
  uint32_t vector = 0, unrolled = 0;
  Loops order;                            ///< order of the result's loops
  std::optional<Decision> decision = {};  ///< which of the two axes is outside
  bool runs = false;                      ///< columns may be processed in runs
  std::string axes = {};                  ///< for explanations

  std::string text() const { return axes; }
  Legal<> carry_out(Draft& draft) const {
    ReductionForm& form = draft.reduction;
    form.vector = vector, form.unrolled = unrolled;
    if (decision) draft.knobs.take(*decision);
    if (const Loops moved = moved_of(order, form.spatial); !moved.empty())
      RELAXC_LEGAL(apply(draft.tree, Reorder{moved}));
    form.spatial = order;
    if (!runs) return tile_in_registers(draft);
    if (const OperandPanels panels = operand_panels_of(draft); panels.operand != nullptr)
      RELAXC_LEGAL(copy_panels(draft, panels));
    else
      RELAXC_LEGAL(write_in_runs(draft));
    return tile_in_registers(draft);
  }
};

/// By default, the outer of the two loops is the one over the larger operand, which is then read only once.
Legal<GemmTile> tile_along(const Draft& draft, uint32_t vector) {
  const Loops& spatial = draft.reduction.spatial;
  GemmTile plan{.vector = vector, .unrolled = axis_to_unroll(draft, vector), .order = spatial};
  plan.axes = fmt::format("vectors along {}", explained_name(draft, vector));
  if (plan.unrolled == 0) return plan;
  plan.axes += fmt::format(", rows along {}", explained_name(draft, plan.unrolled));
  if (spatial.size() < 2) return plan;
  const bool wide = gains_by_wide_rows(draft, plan.unrolled, vector);
  const bool rows_outside = wide || rows_are_outside(draft, plan.unrolled, vector);
  std::vector<std::string> names{"rows outside", "columns outside"};
  if (!rows_outside) std::swap(names[0], names[1]);
  plan.decision = draft.knobs.decide("order", std::move(names));
  const bool other = plan.decision->taken == 1;
  std::optional<Loops> order;
  if (other) order = spatial_order(draft, vector, plan.unrolled, !rows_outside);
  if (!order) order = spatial_order(draft, vector, plan.unrolled, rows_outside);
  RELAXC_FITS(order, "the loops of the result cannot be put in the order that a tile needs");
  plan.order = *order, plan.runs = !wide && other == rows_outside;
  plan.axes += ", " + plan.decision->options[plan.decision->taken];
  return plan;
}

struct VectorAxis {
  uint32_t loop = 0;
  double cost = 1;  ///< relative to whole vectors everywhere
};

Legal<VectorAxis> match_tile(const Draft& draft) {
  const ReductionForm& form = draft.reduction;
  if (form.sliding.vector != 0) return VectorAxis{form.sliding.vector};
  const ReductionView view(draft);
  VectorAxis best{0, kMostCost};
  for (size_t i = form.spatial.size(); i-- > 0;) {
    if (form.spatial[i] == form.sliding.scalars) continue;
    if (const double cost = view.cost(form.spatial[i], false); cost < best.cost) best = {form.spatial[i], cost};
  }
  RELAXC_FITS(best.loop != 0,
              "along every axis of the result, operands have such large strides that vectors do not pay");
  return best;
}

double tile_cycles(const Draft& draft, const VectorAxis& axis) {
  return axis.cost * ReductionView(draft).vector_steps() / draft.target->fma_per_cycle;
}

Legal<GemmTile> plan_tile(const Draft& draft, const VectorAxis& axis) {
  return tile_along(draft, axis.loop);
}

// ---- small images: rows and columns become one axis

struct Image {
  uint32_t rows = 0, columns = 0;
};

Legal<Image> match_image(const Draft& draft) {
  const ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  RELAXC_FITS(form.sliding.vector == 0 && form.words == nullptr, "its operands were copied, or are read in words");
  RELAXC_FITS(form.spatial.size() >= 2, "the result has no rows and columns");
  RELAXC_FITS(tail_of(*draft.target) == Tail::kMask, "masked loads are slow on the target");
  RELAXC_FITS(view.terms() <= kMostUnrolledTerms, "sums have too many terms to be unrolled");
  auto known = [&](uint32_t loop) { return view.extent(loop) != nullptr; };
  const Image image{*(form.spatial.end() - 2), form.spatial.back()};
  RELAXC_FITS(known(image.rows) && known(image.columns) && std::all_of(form.reduced.begin(), form.reduced.end(), known),
              "extents of the image or of the filter are open");
  const int64_t height = *view.extent(image.rows), width = *view.extent(image.columns);
  const int64_t vectors = (height * width + form.lanes - 1) / form.lanes;
  RELAXC_FITS(vectors > 0 && vectors <= kMostTileVectors && height >= kLeastRowsPerVector * vectors,
              "the image does not fit in registers, or its rows fill vectors");
  RELAXC_FITS(can_fuse(draft.tree.loop(image.rows), draft.tree.loop(image.columns), true),
              "rows and columns cannot become one axis");
  return image;
}

struct SmallImage {
  Image image;

  static std::string text() { return "rows and columns as one axis, all of it in registers"; }
  Legal<> carry_out(Draft& draft) const {
    ReductionForm& form = draft.reduction;
    RELAXC_STEP(form.image, apply(draft.tree, Fuse{image.rows, image.columns}));
    form.spatial.pop_back();
    form.spatial.back() = form.image;
    RELAXC_STEP(const GemmTile tile, tile_along(draft, form.image));
    return tile.carry_out(draft);
  }
};

double image_cycles(const Draft& draft, const Image& image) {
  const ReductionView view(draft);
  const auto pixels = static_cast<double>(*view.extent(image.rows) * *view.extent(image.columns));
  const auto lanes = static_cast<double>(draft.reduction.lanes);
  return view.vector_steps() * std::ceil(pixels / lanes) * lanes / pixels / draft.target->fma_per_cycle;
}

Legal<SmallImage> plan_image(const Draft&, const Image& image) {
  return SmallImage{image};
}

}  // namespace

std::span<const Strategy> gemm_tile_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "small_image_tile",
               .stage = Stage::kLanes,
               .priority = 20,
               .doc = "A filter that slides over images of few pixels, whose rows are shorter than a vector, has rows "
                      "and columns as one axis: all of an image is in registers, and which lanes a tap reads is known "
                      "when compiling.",
               .propose = propose<match_image, kForExplanation<image_cycles>, plan_image>},
      Strategy{.name = "gemm_tile",
               .stage = Stage::kLanes,
               .priority = 10,
               .doc = "A tile of the result in registers: one axis in vector lanes, one whose iterations share the "
                      "vectors unrolled, consumers applied to the tile, constants packed as it reads them.",
               .propose = propose<match_tile, tile_cycles, plan_tile>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
