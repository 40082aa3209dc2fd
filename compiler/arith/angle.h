// angle.h: angles too large for the quick reduction of math_trig.cpp.
//
// sin, cos and tan reduce their argument by multiples of pi/2 in a few multiply-adds, which is exact below 2^32. Larger
// angles need some hundred bits of 2/pi. That is a branch, which expressions do not have, so the expanded function
// calls one of two functions by name (arith::Extern) that give what the quick way found or, where x is large, the exact
// value. Backends ask once for all lanes whether one is large, and only then call the runtime.
#pragma once

#include <string_view>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// From here on an angle is large; the bound of runtime-lite/core/reduce_angle.h.
constexpr double kLargeAngle = 0x1p32;

/// The functions' names. Their operands: x, and the rest and the quadrant that the quick way found.
constexpr std::string_view kAngleRest = "rlx_angle_rest", kAngleQuadrant = "rlx_angle_quadrant";

/// Whether `e` is a call of one of the two. It reads nothing and may be computed where its value is not used.
bool is_angle_call(Expr e);

/// What they give.
double angle_rest(double x, double rest, double quadrant);
double angle_quadrant(double x, double rest, double quadrant);

/// Both for several angles, in place.
void reduce_angles(int32_t count, const double* x, double* rest, double* quadrant);

}  // namespace relaxc::arith
