// scalar_reduction.h: the common part of strategies for reductions on targets without vectors.
#pragma once

#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// The reduction in focus, if the target has no vectors for it.
Legal<ReductionForm> match_scalars(const Draft& draft);

/// Stores the form in the draft and applies reorder_axes().
Legal<> begin_scalars(Draft& draft, const ReductionForm& form);

/// Estimated cycles of all terms, by multiply-adds or by loads, whichever takes longer.
///
/// \param reuse  the number of sums that one load serves
double scalar_cycles(const Draft& draft, const ReductionForm& form, double reuse);

}  // namespace relaxc::schedule
