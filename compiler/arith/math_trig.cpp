// math_trig.cpp: circular functions, in float64 (float32 is computed in float64 and therefore correctly rounded except
// in rare ties).
//
// The argument is reduced by multiples of pi/2, in three parts, with fma. Below 2^32 the remainder is then correct to
// one rounding however near the argument is to a multiple, since the products of the first two parts are exact and the
// missing part is below 2^-130. Larger arguments are reduced in integers (angle.h). sin and cos of the remainder are
// Taylor polynomials, which need no more terms than fitted ones on so small an interval.
#include <cmath>

#include "compiler/arith/angle.h"
#include "compiler/arith/math_real.h"

namespace relaxc::arith {
namespace {

constexpr double kPiHalf = 1.5707963267948966, kPiHalfMiddle = 6.123233995736766e-17,
                 kPiHalfLow = -1.4973849048591698e-33;
constexpr double kTwoOverPi = 0.63661977236758134308;

/// An angle x = (4 k + quadrant) pi/2 + rest with |rest| <= pi/4.
struct Reduced {
  Expr rest, quadrant;
};

/// Whether the dtype that x was cast from has no large finite values, so that x is no large angle.
bool is_always_small(Expr x) {
  while (const auto* conversion = x.as<Cast>()) {
    x = conversion->value;
    DType from = x.dtype();
    if (!from.is_float()) return from.bits <= 32;
    if (from.bits < 32 && from != DType::bf16() && from.code != TypeCode::kFloat8E8M0FNU) return true;
  }
  return false;
}

Reduced reduce(const Real& r, Expr x) {
  Expr n = r.round(x * r.num(kTwoOverPi));
  Expr rest = r.fma(n, r.num(-kPiHalf), x);
  rest = r.fma(n, r.num(-kPiHalfMiddle), rest);
  rest = r.fma(n, r.num(-kPiHalfLow), rest);
  Expr quadrant = n - r.num(4) * r.floor(n * r.num(0.25));
  if (is_always_small(x)) return {rest, quadrant};
  auto exact = [&](std::string_view function) {
    return r.context().external(r.dtype(), std::string(function), {x, rest, quadrant});
  };
  return {exact(kAngleRest), exact(kAngleQuadrant)};
}

Expr sine(const Real& r, Expr t) {
  Expr s = t * t;
  Expr p = r.polynomial(s, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0,
                            -1.0 / 1307674368000.0, 1.0 / 355687428096000.0});
  return r.fma(t * s, p, t);
}

Expr cosine(const Real& r, Expr t) {
  Expr s = t * t;
  Expr p = r.polynomial(s, {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600.0, -1.0 / 87178291200.0,
                            1.0 / 20922789888000.0, -1.0 / 6402373705728000.0});
  // 1 - s/2 loses low bits of s/2; they are added again with the tail.
  Expr half = s * r.num(0.5), w = r.num(1) - half;
  return w + r.fma(s * s, p, (r.num(1) - w) - half);
}

Expr by_quadrant(const Real& r, Expr x, double shift) {
  auto [t, quadrant] = reduce(r, x);
  Expr q = quadrant + r.num(shift);
  q = q - select(ge(q, r.num(4)), r.num(4), r.num(0));
  Expr odd = logical_or(eq(q, r.num(1)), eq(q, r.num(3)));
  Expr value = select(odd, cosine(r, t), sine(r, t));
  return select(ge(q, r.num(2)), -value, value);
}

/// atan of t in [0, 1].
Expr atan_unit(const Real& r, Expr t) {
  Expr upper = gt(t, r.num(0.41421356237309503));
  Expr u = select(upper, (t - r.num(1)) / (t + r.num(1)), t), s = u * u;
  Expr p = r.polynomial(
      s, {-0.33333333333333333216, 0.19999999999999803052, -0.14285714285659457296, 0.11111111105119365263,
          -0.090909087517060757647, 0.076922963231577845479, -0.066664239543734121795, 0.05878918292975727249,
          -0.052303754575766691623, 0.045512338448295676627, -0.034561322968262307559, 0.016275521683893418045});
  Expr value = r.fma(u * s, p, u);
  return select(upper, r.num(kPiHalf / 2) + (value + r.num(kPiHalfMiddle / 2)), value);
}

}  // namespace

Expr math_sin(const Real& r, Expr x) {
  return select(eq(x, r.num(0)), x, by_quadrant(r, x, 0));
}
Expr math_cos(const Real& r, Expr x) {
  return by_quadrant(r, x, 1);
}

Expr math_tan(const Real& r, Expr x) {
  auto [t, quadrant] = reduce(r, x);
  Expr s = sine(r, t), c = cosine(r, t);
  Expr odd = logical_or(eq(quadrant, r.num(1)), eq(quadrant, r.num(3)));
  return select(eq(x, r.num(0)), x, select(odd, -c, s) / select(odd, s, c));
}

Expr math_atan(const Real& r, Expr x) {
  Expr a = r.abs(x), big = gt(a, r.num(1));
  Expr value = atan_unit(r, select(big, r.num(1) / a, a));
  value = select(big, r.num(kPiHalf) - (value - r.num(kPiHalfMiddle)), value);
  return select(r.isnan(x), x, r.copysign(value, x));
}

Expr math_atan2(const Real& r, Expr y, Expr x) {
  Expr ax = r.abs(x), ay = r.abs(y), zero = r.num(0), inf = r.num(HUGE_VAL);
  Expr big = max(ax, ay), small = min(ax, ay);
  Expr both = logical_and(eq(ax, inf), eq(ay, inf));
  Expr ratio = select(logical_or(both, eq(big, zero)), select(both, r.num(1), zero), small / big);
  Expr value = atan_unit(r, ratio);
  value = select(gt(ay, ax), r.num(kPiHalf) - (value - r.num(kPiHalfMiddle)), value);
  Expr negative_x = lt(r.copysign(r.num(1), x), zero);
  value = select(negative_x, r.num(2 * kPiHalf) - (value - r.num(2 * kPiHalfMiddle)), value);
  return select(logical_or(r.isnan(x), r.isnan(y)), x + y, r.copysign(value, y));
}

Expr math_asin(const Real& r, Expr x) {
  Expr one = r.num(1);
  Expr root = r.sqrt((one - x) * (one + x));
  return select(eq(x, r.num(0)), x, math_atan2(r, x, root));
}

Expr math_acos(const Real& r, Expr x) {
  Expr one = r.num(1);
  return math_atan2(r, r.sqrt((one - x) * (one + x)), x);
}

}  // namespace relaxc::arith
