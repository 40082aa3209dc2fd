// scalars.cpp: reductions on targets without vectors.
//
// An element is a scalar from its neutral element to what its consumers make of it: sums never lie in memory, of which
// such machines have little. Their order is the written one.
#include <array>

#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {
namespace {

Legal<ReductionForm> match(const Draft& draft) {
  const Target& target = *draft.target;
  RELAXC_FITS(target.vector_bits == 0 || target.lanes(64) < 2, "the target has vectors");
  RELAXC_STEP(ReductionForm form, reduction_in(draft));
  RELAXC_FITS(form.lanes < 2, "the target has vectors");
  RELAXC_FITS(!form.spatial.empty(), "the result is a single element");
  return form;
}

struct ScalarSums {
  ReductionForm form;

  static std::string text() { return "each sum in a register, one element after the other"; }
  Legal<> carry_out(Draft& draft) const {
    draft.reduction = form;
    RELAXC_LEGAL(put_axes_in_order(draft));
    RELAXC_FITS(ReductionView(draft).updates(), "it is no sum, product, minimum or maximum");
    return contract_results(draft);
  }
};

Legal<ScalarSums> plan(const Draft&, const ReductionForm& form) {
  return ScalarSums{form};
}

}  // namespace

std::span<const Strategy> scalars_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "scalars",
               .stage = Stage::kNests,
               .priority = 50,
               .doc = "On a target without vectors, an element of a reduction is in a register from its neutral "
                      "element to what its consumers make of it.",
               .propose = propose<match, kNotEstimated, plan>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
