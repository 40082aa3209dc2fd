// reduction.cpp: schedules all reductions on targets with vectors: matrix products, convolutions, pools, sums.
//
// They differ only in the subscripts of their operands, so its stages look only at these: first axes are put in order,
// then a strategy of Stage::kOperands decides how operands are read, then one of Stage::kLanes which axis is in lanes.
// Padding is a branch around a load into a local, hoisted by moving the loops of its condition outwards.
#include <fmt/format.h>

#include <array>

#include "compiler/schedule/primitives/stage_loads.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {
namespace {

Legal<ReductionForm> match_reduction(const Draft& draft) {
  RELAXC_STEP(ReductionForm form, reduction_in(draft));
  RELAXC_FITS(form.lanes >= 2, "the target has no vectors");
  return form;
}

struct StagedReduction {
  ReductionForm form;

  std::string text() const {
    return fmt::format("{} loops of the result, {} of the sum, {} consumers", form.spatial.size(), form.reduced.size(),
                       form.group.consumers.size());
  }
  Legal<> carry_out(Draft& draft) const {
    draft.reduction = form;
    RELAXC_LEGAL(reorder_axes(draft));
    RELAXC_LEGAL(fuse_neighbours(draft.tree, draft.reduction.spatial));
    RELAXC_LEGAL(fuse_neighbours(draft.tree, draft.reduction.reduced));
    RELAXC_FITS(ReductionView(draft).updates(), "it is not a sum, product, minimum or maximum");
    RELAXC_LEGAL(run_stage(Stage::kOperands, draft));
    RELAXC_LEGAL(apply(draft.tree, StageLoads{draft.reduction.block, 0}));
    return run_stage(Stage::kLanes, draft);
  }
};

/// One instruction for each term, by whole vectors; the stages of operands and lanes have better estimates.
double reduction_cycles(const Draft& draft, const ReductionForm& form) {
  return terms_of(form.group.reduction) / static_cast<double>(form.lanes) / draft.target->fma_per_cycle;
}

Legal<StagedReduction> plan_reduction(const Draft&, const ReductionForm& form) {
  return StagedReduction{form};
}

}  // namespace

std::span<const Strategy> reduction_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "reduction",
               .stage = Stage::kNests,
               .priority = 40,
               .doc = "A reduction with the nest that stores its initial value and with its consumers; the stages of "
                      "operands and of lanes decide how.",
               .propose = propose<match_reduction, kForExplanation<reduction_cycles>, plan_reduction>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
