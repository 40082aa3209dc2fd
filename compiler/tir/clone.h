// clone.h: copies a prim func; the copy shares no variable, buffer, loop or block with the original.
#pragma once

#include "compiler/arith/visit.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// Copies `function` with new identities for everything that it binds: parameters, symbols, loop and block variables,
/// allocations. `symbols` replaces symbols and scalar parameters by expressions of the caller; the copy does not have
/// these parameters.
PrimFunc clone(Context& context, const PrimFunc& function, const arith::Substitution& symbols = {});

}  // namespace relaxc::tir
