// sum_order.cpp: see sum_order.h.
#include "compiler/schedule/strategies/parts/sum_order.h"

#include <algorithm>

#include "compiler/schedule/primitives/factor_out.h"
#include "compiler/schedule/primitives/reassociate.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/unroll.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/register_tile.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr int64_t kFewTerms = 8;  ///< fewer are not worth a separate sum

/// Whether a subscript depends on both loops.
bool meets(const ReductionView& view, uint32_t tap, uint32_t unrolled) {
  bool found = false;
  if (unrolled == 0) return found;
  for_each_access(view.summed(), [&](const Access& access) {
    for (Expr index : access.indices)
      found |= depends_on(index, view.var(tap)) && depends_on(index, view.var(unrolled));
  });
  return found;
}

/// Whether vectors that consecutive iterations read are in the same sets of the first level of cache, and are too many
/// to stay until the next tap of a filter needs them.
bool set_conflict(const Draft& draft, uint32_t loop) {
  const ReductionView view(draft);
  const Var vector = view.var(draft.reduction.vector);
  const int64_t* extent = view.extent(loop);
  bool found = false;
  for_each_access(view.summed(), [&](const Access& access) {
    if (access.buffer->scope == tir::Scope::kLocal || view.packable_axis(access, vector)) return;
    auto along = step_of(access.buffer, access.indices, vector);
    auto step = step_of(access.buffer, access.indices, view.var(loop));
    if (along == 1 && step && *step != 0)
      found |= *step * access.buffer->dtype.bytes() % draft.target->l1_period_bytes == 0;
  });
  return found && (extent == nullptr || *extent > draft.target->l1_ways);
}

/// Reorders the loops of the reduction; returns false and changes nothing if that is not legal.
Legal<bool> reorder_terms(Draft& draft, const std::vector<uint32_t>& order) {
  ReductionForm& form = draft.reduction;
  if (!can_reorder(draft.tree, order, form.block)) return false;
  RELAXC_LEGAL(apply(draft.tree, Reassociate{form.block}));
  RELAXC_LEGAL(apply(draft.tree, Reorder{order}));
  form.reduced = order;
  return true;
}

/// Whether a depthwise filter takes several tiles for the image of a channel.
bool has_several_tiles(const Draft& draft) {
  const ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  const int64_t *rows = view.extent(form.sliding.rows), *columns = view.extent(form.vector);
  return rows == nullptr || columns == nullptr || *rows > most_tile_rows(draft) || *columns > form.lanes;
}

/// Makes taps that share rows with the tile innermost and unrolled, so that a loaded row serves all of them. Loops over
/// phases are unrolled around these, so that no address depends on the phase; if a channel is a single tile, the
/// resulting code, which loads all of the filter first, takes a fifth longer.
Legal<> unroll_taps(Draft& draft) {
  const ReductionForm& form = draft.reduction;
  const Sliding sliding = form.sliding;
  std::vector<uint32_t> order = form.reduced;
  auto at = std::find(order.begin(), order.end(), sliding.taps);
  std::rotate(at, at + 1, order.end());
  if (order != form.reduced) {
    RELAXC_STEP(const bool done, reorder_terms(draft, order));
    if (!done) return Done{};
  }
  RELAXC_LEGAL(apply(draft.tree, Unroll{sliding.taps}));
  if (sliding.phases != 0 && has_several_tiles(draft)) RELAXC_LEGAL(apply(draft.tree, Unroll{sliding.phases}));
  return Done{};
}

}  // namespace

Legal<uint32_t> factor_out(Draft& draft) {
  const ReductionForm& form = draft.reduction;
  int64_t terms = 1;
  uint32_t at = 0;
  Expr factor;
  for (size_t i = form.reduced.size(); i-- > 0;) {
    Expr common = common_factor(draft.tree, form.block, form.reduced[i]);
    if (!common || (factor && !(common == factor))) break;
    const int64_t* extent = draft.tree.loop(form.reduced[i]).extent.constant();
    terms *= extent != nullptr ? *extent : kFewTerms;
    if (terms >= kFewTerms) at = form.reduced[i], factor = common;
  }
  if (at == 0) return uint32_t{0};
  RELAXC_LEGAL(apply(draft.tree, Reassociate{form.block}));
  return apply(draft.tree, FactorOut{form.block, at});
}

Legal<> order_terms(Draft& draft, bool factored) {
  const ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  if (form.sliding.taps != 0) return unroll_taps(draft);
  if (form.image != 0) {
    for (uint32_t loop : form.reduced) RELAXC_LEGAL(apply(draft.tree, Unroll{loop}));
    return Done{};
  }
  if (form.reduced.size() < 2 || factored) return Done{};
  std::vector<uint32_t> order, inner;
  for (uint32_t loop : form.reduced) {
    bool decides = false;
    tir::for_each_stmt(view.summed(), [&](Stmt s) {
      if (const auto* branch = s.as<tir::If>()) decides |= depends_on(branch->condition, view.var(loop));
    });
    (decides || meets(view, loop, form.unrolled) ? order : inner).push_back(loop);
  }
  if (std::any_of(inner.begin(), inner.end(), [&](uint32_t loop) { return set_conflict(draft, loop); })) return Done{};
  order.insert(order.end(), inner.begin(), inner.end());
  if (order != form.reduced && !inner.empty()) RELAXC_LEGAL(reorder_terms(draft, order));
  return Done{};
}

int64_t most_tile_rows(const Draft& draft) {
  const Sliding& sliding = draft.reduction.sliding;
  if (sliding.rows == 0) return kMostTileRows;
  const int64_t taps = *draft.tree.loop(sliding.taps).extent.constant();
  return std::max<int64_t>(1, (draft.target->vector_registers - 2 - taps) / 2);
}

}  // namespace relaxc::schedule
