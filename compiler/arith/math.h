// math.h: expands exp, tanh and similar functions to arithmetic.
//
// relaxc uses no libm: every backend and the interpreter compute these functions by the same additions,
// multiplications, fmas and selects, so all give the same bits, and the expressions vectorize. float32 is within 2 ULP
// of the correctly rounded value, float64 within 4 (pow: 6); smaller floats are computed as float32 and rounded.
// tests/unit/arith/math_test.cpp checks these bounds.
//
// The bounds are valid for all arguments: sin, cos and tan reduce those from 2^32 on in integers (angle.h).
#pragma once

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// Returns whether expand_math rewrites `intrinsic`; the others (sqrt, floor, fma, bit operations …) are
/// instructions.
bool is_expandable(Intrinsic intrinsic);

/// Returns whether a float32 call expands to a long chain of dependent float32 operations.
bool is_long_chain(Intrinsic intrinsic);

/// Returns a call of an expandable function of a float dtype as arithmetic, and any other expression as it is.
///
/// \param fused  whether a fused multiply-add costs no more than an addition; if not, those whose product is exact are
///               a multiplication and an addition, with the same bits
Expr expand_math(Expr call, bool fused = true);

/// Applies expand_math to every node of `e`.
Expr expand_all_math(Expr e, bool fused = true);

}  // namespace relaxc::arith
