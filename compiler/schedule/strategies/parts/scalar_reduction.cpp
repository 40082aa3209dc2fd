// scalar_reduction.cpp: see scalar_reduction.h.
#include "compiler/schedule/strategies/parts/scalar_reduction.h"

#include <algorithm>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"

namespace relaxc::schedule {

Legal<ReductionForm> match_scalars(const Draft& draft) {
  const Target& target = *draft.target;
  RELAXC_FITS(target.vector_bits == 0 || target.lanes(64) < 2, "the target has vectors");
  RELAXC_STEP(ReductionForm form, reduction_in(draft));
  RELAXC_FITS(form.lanes < 2, "the target has vectors");
  RELAXC_FITS(!form.spatial.empty(), "the result is a single element");
  return form;
}

Legal<> begin_scalars(Draft& draft, const ReductionForm& form) {
  draft.reduction = form;
  RELAXC_LEGAL(reorder_axes(draft));
  RELAXC_FITS(ReductionView(draft).updates(), "it is not a sum, product, minimum or maximum");
  return Done{};
}

double scalar_cycles(const Draft& draft, const ReductionForm& form, double reuse) {
  const tir::Block& block = *analysis::as_nest(form.group.reduction).block;
  const BufferRef result = block.body.as<tir::Store>()->buffer;
  double loads = 0;
  for_each_access(block.body, [&](const Access& access) { loads += access.buffer == result ? 0 : 1; });
  const MachineModel& model = *draft.target;
  return terms_of(form.group.reduction) * std::max(1 / model.fma_per_cycle, loads / reuse / model.loads_per_cycle);
}

}  // namespace relaxc::schedule
