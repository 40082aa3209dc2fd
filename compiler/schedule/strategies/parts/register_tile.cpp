// register_tile.cpp: see register_tile.h.
//
// Rows of a tile share loaded vectors, its columns share scalars; the tile model (tile_shape.h) chooses how many of
// each fit the registers and keep the adders busy. Choices between tiles that give the same bits are a knob.
#include "compiler/schedule/strategies/parts/register_tile.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/arith/dot.h"
#include "compiler/schedule/primitives/jam.h"
#include "compiler/schedule/primitives/jam_inner.h"
#include "compiler/schedule/primitives/prefetch.h"
#include "compiler/schedule/primitives/simplify_subscripts.h"
#include "compiler/schedule/primitives/stage_loads.h"
#include "compiler/schedule/primitives/unroll.h"
#include "compiler/schedule/primitives/use_fma.h"
#include "compiler/schedule/primitives/vectorize.h"
#include "compiler/schedule/strategies/parts/pack_constants.h"
#include "compiler/schedule/strategies/parts/prefetching.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/sum_blocks.h"
#include "compiler/schedule/strategies/parts/sum_order.h"
#include "compiler/schedule/strategies/parts/tile_loops.h"
#include "compiler/schedule/strategies/parts/tile_shape.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/parts/wide_rows.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr int64_t kRegistersOfImage = 4;  ///< not available for sums if a whole image is in registers
constexpr int64_t kRegistersOfTaps = 3;   ///< for early loads, if taps are unrolled
/// The same if each broadcast meets one vector: LLVM loads some ahead and reuses their registers for sums. With sums in
/// 10 or 11 of 16 registers it keeps one or two in memory from tap to tap.
constexpr int64_t kRegistersOfBroadcasts = 4;
constexpr int64_t kLeastRowsOfVector = 8;  ///< tried all the same, as registers allow
constexpr size_t kMostTiles = 6;           ///< maximum number to choose from

// ---- the shape

TileShape tile_of_image(const Draft& draft) {
  const ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  const int64_t vectors = (*view.extent(form.image) + form.lanes - 1) / form.lanes;
  const int64_t* all = form.unrolled == 0 ? nullptr : view.extent(form.unrolled);
  int64_t rows = all == nullptr ? 1 : (draft.target->vector_registers - kRegistersOfImage) / vectors;
  while (rows > 1 && *all % rows != 0) --rows;
  return {std::max<int64_t>(rows, 1), vectors};
}

/// The number of operations on values that change along the vector but not with the row: once for all rows.
double work_of_vector(const Draft& draft, Expr value) {
  const ReductionView view(draft);
  const Var vector = view.var(draft.reduction.vector), row = view.var(draft.reduction.unrolled);
  const Target& target = *draft.target;
  double count = 0;
  Expr made = value;
  if (const Expr word = arith::word_of_dot(value)) {
    // An instruction extracts numbers from words, except for pairs of 16-bit numbers.
    const bool in_pairs = target.dots.of(target.vector_bits) == DotProduct::kPairs && arith::as_dot4(value);
    if (in_pairs) count += target.pair_dot_operations;
    made = word;
  }
  arith::for_each_node(made, [&](Expr e) {
    const bool computes = !e.dtype().is_index() && !arith::operands(e).empty() && e.as<arith::Load>() == nullptr;
    if (computes && !(e == value) && depends_on(e, vector) && !depends_on(e, row)) count += 1;
  });
  return count;
}

/// Whether an operand is read with gaps: then its vectors are assembled from several, each with a mask if there is
/// padding, so every vector should serve as many rows as possible.
bool is_strided(const Draft& draft) {
  const ReductionView view(draft);
  const Var vector = view.var(draft.reduction.vector);
  bool found = false;
  for_each_access(view.summed(), [&](const Access& access) {
    if (access.buffer->scope == tir::Scope::kLocal || access.buffer == view.store().buffer) return;
    if (view.packable_axis(access, vector)) return;
    auto step = step_of(access.buffer, access.indices, vector);
    found |= !step || (*step != 0 && *step != 1);
  });
  return found;
}

/// Whether all tiles along the vectorized axis come before the next rows.
bool has_vectors_inside(const ReductionForm& form) {
  const auto position = [&](uint32_t loop) { return std::find(form.spatial.begin(), form.spatial.end(), loop); };
  return form.unrolled != 0 && form.spatial.size() >= 2 && position(form.vector) > position(form.unrolled);
}

/// The same where that matters to the time: sums of few terms wait for their results to be written.
bool reads_vectors_in_turns(const Draft& draft) {
  const Target& target = *draft.target;
  return has_vectors_inside(draft.reduction) &&
         ReductionView(draft).terms() > target.memory_store_cycles * target.fma_per_cycle;
}

/// The tiles to choose from, best first. All compute the result's elements in the same way.
///
/// \param value what the sum adds, before its loads were staged
std::vector<TileShape> tiles_for(const Draft& draft, Expr value) {
  const ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  const bool single = is_strided(draft) || form.sliding.rows != 0 || form.words_of.in_lanes;
  const bool has_rows = form.unrolled != 0;
  TileLimits limits{.registers = draft.target->vector_registers,
                    .vectors = single ? 1 : kMostTileVectors,
                    .rows = most_tile_rows(draft),
                    .rows_of_vector = kMostTileRows};
  if (form.sliding.vector != 0) {  // taps of a copy are unrolled, and their loads begin early
    limits.registers -= kRegistersOfTaps;
    if (form.sliding.rows == 0)
      limits.rows_of_vector = std::max(limits.registers - kRegistersOfBroadcasts, kLeastRowsOfVector);
  }
  return good_tiles(*draft.target, has_rows ? draft.tree.loop(form.unrolled).extent : Expr(),
                    draft.tree.loop(form.vector).extent, form.lanes, limits,
                    {.terms = view.terms(),
                     .work = has_rows ? work_of_vector(draft, value) : 0,
                     .vectors_inside = reads_vectors_in_turns(draft)},
                    kMostTiles);
}

bool rows_are_wide(const Draft& draft) {
  const ReductionForm& form = draft.reduction;
  return has_vectors_inside(form) && gains_by_wide_rows(draft, form.unrolled, form.vector);
}

struct RegisterTile {
  TileShape shape;
  SumBlocks blocks = {};
  Prefetching prefetching = {};
  bool wide_rows = false;            ///< widen bytes before the columns that read them
  std::optional<Decision> decision;  ///< about the shape
};

RegisterTile plan_register_tile(const Draft& draft, Expr value) {
  RegisterTile plan{.shape = {}, .wide_rows = rows_are_wide(draft), .decision = {}};
  if (draft.reduction.image != 0) {
    plan.shape = tile_of_image(draft);
    return plan;
  }
  const std::vector<TileShape> tiles = tiles_for(draft, value);
  std::vector<std::string> names;
  for (const TileShape& tile : tiles) names.push_back(fmt::format("{}x{}", tile.unrolled, tile.vectors));
  plan.decision = draft.knobs.decide("tile", std::move(names));
  plan.shape = tiles[plan.decision->taken];
  if (!plan.wide_rows) plan.blocks = sum_blocks_of(draft, plan.shape);
  if (plan.blocks.loop == 0) plan.prefetching = prefetching_of(draft, plan.shape, reads_vectors_in_turns(draft));
  return plan;
}

// ---- splitting the axes

/// The loops that splitting both axes has made.
class TileCuts {
 public:
  TileCuts(Draft& draft, const TileShape& shape)
      : draft_(draft),
        tree_(draft.tree),
        form_(draft.reduction),
        shape_(shape),
        tail_(tail_of(*draft.target)),
        overlapped_(form_.sliding.vector != 0),
        rest_(overlapped_                  ? Remainder::kRepeats
              : form_.sliding.scalars != 0 ? Remainder::kExact
                                           : Remainder::kSmaller) {}

  /// Splits rows first, with bytes widened for all columns after them; false if that is illegal. Packs the constant.
  Legal<bool> cut_wide(std::vector<BufferRef>& packed) {
    const std::vector<Pack> packings = packings_along(draft_, form_.vector, shape_.vectors * form_.lanes);
    RELAXC_STEP(const std::vector<AxisPart> parts, cut_wide_rows(draft_, form_.unrolled, shape_.unrolled));
    if (parts.empty()) return false;
    for (const Pack& step : packings) {
      RELAXC_STEP(const BufferRef made, apply(tree_, step));
      packed.push_back(made);
    }
    for (const AxisPart& part : parts) {
      rows.push_back(part.inner);
      const auto copy = part.copies.loops.find(form_.vector);
      RELAXC_LEGAL(cut_vector(copy == part.copies.loops.end() ? form_.vector : copy->second));
    }
    return true;
  }

  Legal<> cut() {
    if (form_.unrolled == 0) {
      RELAXC_LEGAL(cut_vector(form_.vector));
      return Done{};
    }
    return has_vectors_inside(form_) ? vectors_first() : rows_first();
  }

  std::vector<uint32_t> lanes, groups, rows;  ///< loops to vectorize; loops to unroll

 private:
  Legal<> rows_first() {
    RELAXC_STEP(const std::vector<AxisPart> parts, split_axis(tree_, form_.unrolled, shape_.unrolled, rest_));
    RELAXC_STEP(const std::vector<Copies> bodies, cut_vector(form_.vector));
    for (const Copies& copies : bodies)
      for (const AxisPart& part : parts) add_rows(part.inner, copies);
    return Done{};
  }

  Legal<> vectors_first() {
    RELAXC_LEGAL(cut_vector(form_.vector));
    const std::vector<uint32_t> own_lanes = lanes, own_groups = groups;
    RELAXC_STEP(const std::vector<AxisPart> parts, split_axis(tree_, form_.unrolled, shape_.unrolled, rest_));
    for (const AxisPart& part : parts) {
      add_rows(part.inner, {});
      if (part.copies.loops.empty()) continue;
      for (uint32_t loop : own_lanes) lanes.push_back(part.copies.loops.at(loop));
      for (uint32_t loop : own_groups) groups.push_back(part.copies.loops.at(loop));
    }
    return Done{};
  }

  void add_rows(uint32_t loop, const Copies& copies) {
    if (loop == 0) return;
    auto copy = copies.loops.find(loop);
    rows.push_back(copy == copies.loops.end() ? loop : copy->second);
  }

  /// Returns the copies that were made of what is inside of the vectorized axis; the original (no copies) is first.
  Legal<std::vector<Copies>> cut_vector(uint32_t loop) {
    int64_t vectors = shape_.vectors;
    // For an extent of which only a divisor is known, a few vectors less may avoid a remainder.
    const bool open = tree_.loop(loop).extent.constant() == nullptr;
    for (int64_t fewer = vectors; open && fewer * 2 > vectors; --fewer)
      if (known_divisor(tree_, loop) % (fewer * form_.lanes) == 0) {
        vectors = fewer;
        break;
      }
    RELAXC_STEP(const std::vector<VectorPart> parts,
                split_vectors(tree_, loop, vectors, form_.lanes, tail_, overlapped_ || !draft_.open_blocks.empty()));
    std::vector<Copies> bodies;
    for (const VectorPart& part : parts) {
      if (part.group != 0) groups.push_back(part.group);
      if (part.lanes != 0) lanes.push_back(part.lanes);
      bodies.push_back(part.copies);
    }
    return bodies;
  }

  Draft& draft_;
  Tree& tree_;
  const ReductionForm& form_;
  const TileShape& shape_;
  const Tail tail_;
  const bool overlapped_;
  const Remainder rest_;
};

Legal<> pack_and_cut(Draft& draft, const RegisterTile& plan, TileCuts& cuts, std::vector<BufferRef>& packed) {
  const ReductionForm& form = draft.reduction;
  const TileShape& shape = plan.shape;
  if (form.unrolled != 0) RELAXC_LEGAL(pack_along(draft, form.unrolled, shape.unrolled, packed));
  RELAXC_LEGAL(pack_along(draft, form.vector, shape.vectors * form.lanes, packed));
  if (plan.blocks.loop != 0) RELAXC_LEGAL(block_sums(draft, plan.blocks));
  return cuts.cut();
}

Legal<> carry_out(const RegisterTile& plan, Draft& draft) {
  Tree& tree = draft.tree;
  if (plan.decision) draft.knobs.take(*plan.decision);
  std::vector<BufferRef> packed;
  TileCuts cuts(draft, plan.shape);
  bool is_cut = false;
  if (plan.wide_rows) {
    RELAXC_STEP(is_cut, cuts.cut_wide(packed));
  }
  if (!is_cut) RELAXC_LEGAL(pack_and_cut(draft, plan, cuts, packed));
  for (uint32_t loop : cuts.lanes) {
    RELAXC_LEGAL(apply(tree, Vectorize{loop}));
    if (plan.prefetching.bytes != 0) RELAXC_LEGAL(apply(tree, Prefetch{loop, plan.prefetching.bytes}));
    RELAXC_LEGAL(apply(tree, JamInner{loop}));
  }
  // Vectors are innermost: a broadcast serves all of them, and then its register is free again.
  std::vector<uint32_t> unrolled = cuts.rows;
  unrolled.insert(unrolled.end(), cuts.groups.begin(), cuts.groups.end());
  for (uint32_t loop : unrolled) {
    RELAXC_LEGAL(apply(tree, Unroll{loop}));
    RELAXC_LEGAL(apply(tree, Jam{loop}));
  }
  for (BufferRef buffer : packed) RELAXC_LEGAL(apply(tree, SimplifySubscripts{buffer}));
  if (plan.prefetching.terms != 0) RELAXC_LEGAL(prefetch_terms(tree, plan.prefetching.terms));
  RELAXC_FITS(!cuts.lanes.empty(), "the axis in lanes is shorter than a vector, and masks are slow on the target");
  RELAXC_FITS(ReductionView(draft).words_are_packed(), "the constant that is read in words could not be packed");
  return Done{};
}

}  // namespace

double elements_of(BufferRef buffer) {
  double count = 1;
  for (Expr dim : buffer->shape)
    if (const int64_t* known = dim.constant()) count *= static_cast<double>(*known);
  return count;
}

double assumed_elements_of(BufferRef buffer, const arith::Facts& facts) {
  constexpr int64_t kOpenDim = 256;  // a judgement: an image of this size does not fit a second level of cache
  const auto assumed = [&](Var var) { return std::min(kOpenDim, facts.range_of(var).upper); };
  double count = 1;
  for (size_t d = 0; d < buffer->shape.size(); ++d)
    if (Expr dim = buffer->shape[d]; d != 0 || dim.constant() != nullptr)
      count *= static_cast<double>(arith::evaluate(dim, assumed).value_or(kOpenDim));
  return count;
}

Legal<> tile_in_registers(Draft& draft) {
  Tree& tree = draft.tree;
  const ReductionForm& form = draft.reduction;
  const Expr value = update_of(ReductionView(draft).store()).value;
  RELAXC_LEGAL(scalar_replace_results(draft));
  RELAXC_STEP(const uint32_t scaled, factor_out(draft));
  RELAXC_LEGAL(apply(tree, StageLoads{form.block, form.vector}));
  if (scaled != 0) RELAXC_LEGAL(apply(tree, StageLoads{scaled, form.vector}));
  RELAXC_LEGAL(order_terms(draft, scaled != 0));
  if (draft.target->has_fma) RELAXC_LEGAL(apply(tree, UseFma{form.block}));
  if (draft.target->has_fma && scaled != 0) RELAXC_LEGAL(apply(tree, UseFma{scaled}));
  const RegisterTile plan = plan_register_tile(draft, value);
  if (!draft.considered.empty() && draft.considered.back().taken)
    draft.considered.back().plan += fmt::format("; {} rows by {} vectors", plan.shape.unrolled, plan.shape.vectors);
  return carry_out(plan, draft);
}

}  // namespace relaxc::schedule
