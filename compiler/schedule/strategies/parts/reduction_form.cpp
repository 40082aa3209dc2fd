// reduction_form.cpp: see reduction_form.h.
#include "compiler/schedule/strategies/parts/reduction_form.h"

#include <algorithm>

#include "compiler/schedule/primitives/bind_axes.h"
#include "compiler/schedule/primitives/decompose_reduction.h"
#include "compiler/schedule/primitives/reverse_compute_at.h"
#include "compiler/schedule/primitives/scalar_replace.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

Legal<ReductionForm> reduction_in(const Draft& draft) {
  const std::optional<ReductionGroup>& group = draft.group;
  RELAXC_FITS(group, "it is not a reduction with its consumers");
  const analysis::Nest nest = analysis::as_nest(group->reduction);
  ReductionForm form{.group = *group, .block = nest.block->id};
  for (const tir::For* loop : nest.loops) {
    auto axis = std::find_if(nest.block->iters.begin(), nest.block->iters.end(),
                             [&](const tir::IterVar& iter) { return iter.binding == loop->var; });
    const bool reduces = axis->iter_kind == tir::IterKind::kReduce;
    RELAXC_FITS(reduces || form.reduced.empty(), "loops of the result are inside of loops of the sum");
    (reduces ? form.reduced : form.spatial).push_back(loop->id);
  }
  RELAXC_FITS(!form.reduced.empty() && (!form.spatial.empty() || group->consumers.empty()),
              "there is no loop around a sum and its consumers");
  form.lanes = lanes_of(*draft.target, group->reduction);
  form.room = !draft.in_blocks;
  if (form.room) form.constants = draft.tree.own_constants();
  return form;
}

Legal<> reorder_axes(Draft& draft) {
  Tree& tree = draft.tree;
  ReductionForm& form = draft.reduction;
  RELAXC_LEGAL(apply(tree, DecomposeReduction{form.block, form.reduced[0]}));
  RELAXC_LEGAL(apply(tree, BindAxes{}));
  for (Stmt consumer : form.group.consumers) {
    const uint32_t block = analysis::as_nest(consumer).block->id;
    RELAXC_LEGAL(apply(tree, ReverseComputeAt{block, form.spatial.back(), form.spatial}));
  }
  RELAXC_LEGAL(drop_unit_loops(tree, form.spatial));
  return drop_unit_loops(tree, form.reduced);
}

Legal<> scalar_replace_results(Draft& draft) {
  const ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  const BufferRef result = view.store().buffer;
  std::vector<BufferRef> scalars{result};
  for (BufferRef b : form.group.non_escaping)
    if (b->id != view.original(result)->id) scalars.push_back(view.current(b));
  for (BufferRef b : scalars)
    RELAXC_LEGAL(apply(draft.tree, ScalarReplace{b, form.spatial.back(), b != result || view.non_escaping(result)}));
  return Done{};
}

}  // namespace relaxc::schedule
