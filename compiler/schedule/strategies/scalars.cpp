// scalars.cpp: schedules reductions on targets without vectors, one element at a time.
//
// An element stays a scalar from its neutral element to the results of its consumers: sums are never in memory, of
// which such machines have little. Terms keep their order. If a filter reads beyond an image, a branch takes less code
// and time than clamping both subscripts.
#include <array>

#include "compiler/schedule/primitives/stage_loads.h"
#include "compiler/schedule/strategies/parts/scalar_reduction.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {
namespace {

struct ScalarSums {
  ReductionForm form;

  static std::string text() { return "each sum in a register, one element after the other"; }
  Legal<> carry_out(Draft& draft) const {
    RELAXC_LEGAL(begin_scalars(draft, form));
    RELAXC_LEGAL(apply(draft.tree, StageLoads{draft.reduction.block, 0}));
    return scalar_replace_results(draft);
  }
};

/// The sum stays in a register, and each term loads its operands.
double scalars_cycles(const Draft& draft, const ReductionForm& form) {
  return scalar_cycles(draft, form, 1);
}

Legal<ScalarSums> plan_scalars(const Draft&, const ReductionForm& form) {
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
               .propose = propose<match_scalars, kForExplanation<scalars_cycles>, plan_scalars>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
