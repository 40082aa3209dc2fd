// known.h: what is known of a function's symbols at the place of an op.
#pragma once

#include "compiler/relax/graph.h"

namespace relaxc::relax {

/// What is declared of the symbols, and what the body has checked of its parameters' symbols before `before` (null: the
/// end of `region`): assertions and match_casts that a call does not get past, wherever the op is moved to. `room`
/// holds the answer where it is more than `Function::facts`. A caller that makes those checks itself must not ask.
const arith::Facts& known_facts(const Region& region, const Op* before, arith::Facts& room);

}  // namespace relaxc::relax
