// known.h: facts about a function's symbols at a given op.
#pragma once

#include "compiler/relax/graph.h"

namespace relaxc::relax {

/// Returns the declared facts, and those that the body checks of its parameters' symbols before `before` (null: the end
/// of `region`): assertions and match_casts that every call passes, wherever the op is moved to. Returns `room` if
/// there are more than `Function::facts`. A caller that emits those checks itself must not call it.
const arith::Facts& known_facts(const Region& region, const Op* before, arith::Facts& room);

}  // namespace relaxc::relax
