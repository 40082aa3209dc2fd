// scalar_reduction.h: reductions on targets without vectors, as the strategies for them begin.
#pragma once

#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// A reduction on a target that has no vectors for it.
Legal<ReductionForm> match_scalars(const Draft& draft);

/// Takes the form into the draft, with its axes in order.
Legal<> begin_scalars(Draft& draft, const ReductionForm& form);

/// Of all terms one by one, by multiply-adds or by loads, whichever take longer; `reuse`: sums that a load serves.
double scalar_cycles(const Draft& draft, const ReductionForm& form, double reuse);

}  // namespace relaxc::schedule
