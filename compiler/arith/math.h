// math.h: exp, tanh and the like as arithmetic.
//
// relaxc uses no libm: every backend and the interpreter compute these functions by the same additions,
// multiplications, fmas and selects, so they give the same bits, and the expressions vectorize. float32 is within 2 ULP
// of the correctly rounded value, float64 within 4 (pow: 6); smaller floats are computed as float32 and rounded.
// tests/unit/arith/math_test.cpp holds the bounds.
//
// The bounds hold for all arguments: sin, cos and tan reduce those from 2^32 on in integers (angle.h).
#pragma once

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// Whether `intrinsic` is one that expand_math rewrites; the others (sqrt, floor, fma, bit operations …) are
/// instructions.
bool is_expandable(Intrinsic intrinsic);

/// Whether expand_math makes of a float32 a chain of steps in float32 of which most wait for the one before.
bool is_long_chain(Intrinsic intrinsic);

/// The call of an expandable function of a float dtype as arithmetic. Any other expression is returned as it is.
///
/// \param fused  a fused multiply-add costs no more than an addition; else those of exact products, which give the same
///               bits in two steps, are two
Expr expand_math(Expr call, bool fused = true);

/// expand_math on every node of `e`.
Expr expand_all_math(Expr e, bool fused = true);

}  // namespace relaxc::arith
