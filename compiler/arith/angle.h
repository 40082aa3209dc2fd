// angle.h: reduction of angles that are too large for the fast method of math_trig.cpp.
//
// sin, cos and tan reduce their argument by multiples of pi/2 in a few multiply-adds, which is exact below 2^32. Larger
// angles need some hundred bits of 2/pi. That is a branch, which expressions do not have, so the expanded function
// calls one of two functions by name (arith::Extern), which return the fast method's result or, if x is large, the
// exact one. Backends test once for all lanes whether any is large, and only then call the runtime.
#pragma once

#include <string_view>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// The least large angle; as in runtime-lite/core/reduce_angle.h.
constexpr double kLargeAngle = 0x1p32;

/// The functions' names. Their operands are x, and the remainder and the quadrant by the fast method.
constexpr std::string_view kAngleRest = "rlx_angle_rest", kAngleQuadrant = "rlx_angle_quadrant";

/// Returns whether `e` is a call of one of the two. Such a call reads no memory and may be executed speculatively.
bool is_angle_call(Expr e);

/// Return the results of these functions.
double angle_rest(double x, double rest, double quadrant);
double angle_quadrant(double x, double rest, double quadrant);

/// Computes both for several angles, in place.
void reduce_angles(int32_t count, const double* x, double* rest, double* quadrant);

}  // namespace relaxc::arith
