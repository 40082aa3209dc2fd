// verify.h: checks the invariants of prim funcs, which hold after every pass.
#pragma once

#include <string>

#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// Returns the first broken rule with its location; empty if the function is well formed: variables are bound where
/// used, buffers exist where accessed and have one subscript for each dim, dtypes agree, vectorized and unrolled
/// extents and local sizes are constant, Break is in a loop. A function with an arena, whose sizes callers and data
/// decide, checks its index arithmetic, unless its ranges (index_checks.h) exclude an overflow.
std::string first_fault(const PrimFunc& function);

}  // namespace relaxc::tir
