// verify.h: what every prim func must satisfy after every pass.
#pragma once

#include <string>

#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// The first broken rule, with where it is; empty if the function is well formed: variables are bound where used,
/// buffers exist where accessed and get one subscript a dim, dtypes agree, vectorized and unrolled extents and local
/// sizes are constant, Break is in a loop. A function with an arena, whose sizes callers and data decide, checks its
/// index arithmetic, or its ranges (index_checks.h) exclude an overflow.
std::string first_fault(const PrimFunc& function);

}  // namespace relaxc::tir
