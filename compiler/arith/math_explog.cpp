// math_explog.cpp: exponentials, logarithms, hyperbolic functions, pow.
//
// exp: x = n ln2 + r with ln2 in two parts (Cody and Waite), a polynomial of r, and a scaling by 2^n in two steps. log:
// the mantissa in [sqrt(1/2), sqrt(2)), log1p of it by a polynomial (float32) or by 2 atanh(s), s = (m-1)/(m+1)
// (float64). Coefficients interpolate at Chebyshev nodes on the reduced interval; those of float32 exp minimize the
// largest relative error, those of float64 exp are Taylor's, which need no more terms there.
//
// tanh of float32 is a division of two sums that its addition theorem gives. Rejected: a polynomial below 0.625 and
// 1 - 2 / (1 + e^2x) beyond, two functions and a choice, which are twice as many steps; (e^2x - 1) / (e^2x + 1), which
// is off by 2.6 ULP; a quotient of polynomials, whose long sums are off by more.
//
// sigmoid and tanh end in a division, which runs in parallel to multiplications. Rejected: a reciprocal by a polynomial
// and a Newton step, eight multiplications with which a sigmoid takes twice as long on Zen 5.
#include <cmath>

#include "compiler/arith/math_real.h"

namespace relaxc::arith {
namespace {

constexpr double kLog2E = 1.4426950408889634074, kLn2 = 0.69314718055994530942, kLog10E = 0.43429448190325182765;
constexpr double kLog10Of2 = 0.30102999566398119521;
constexpr double kLn2High32 = 0.693359375, kLn2Low32 = -2.1219444005469057e-4;
constexpr double kLn2High64 = 0.6931471803691238, kLn2Low64 = 1.9082149292705877e-10;

double ln2_high(const Real& r) {
  return r.is_double() ? kLn2High64 : kLn2High32;
}
double ln2_low(const Real& r) {
  return r.is_double() ? kLn2Low64 : kLn2Low32;
}

/// (e^t - 1 - t) / t^2 for |t| <= ln2 / 2; `t2` is t^2.
Expr exp_tail(const Real& r, Expr t, Expr t2) {
  if (!r.is_double()) {
    return r.polynomial_in_pairs(t, t2, {0.4999999343, 0.1666652039, 0.04166839148, 0.008368746328, 0.001381449402});
  }
  return r.polynomial_in_pairs(t, t2,
                               {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                                1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0});
}

/// e^t - 1 - t + more for |t| <= ln2 / 2.
Expr exp_less_one(const Real& r, Expr t, Expr more) {
  Expr t2 = t * t;
  return r.fma(t2, exp_tail(r, t, t2), more);
}

/// 2^n e^(t + low) for integral n. `low` may be null, which means 0.
Expr exp_of_parts(const Real& r, Expr n, Expr t, Expr low) {
  Expr sum = exp_less_one(r, t, t);
  if (low) sum = sum + r.fma(low, sum, low);
  return r.scale(sum + r.num(1), n);
}

Expr clamp(const Real& r, Expr x, double low, double high) {
  return max(min(x, r.num(high)), r.num(low));
}

/// As clamp, but NaN stays: it fails both comparisons.
Expr within(const Real& r, Expr x, double low, double high) {
  Expr most = select(gt(x, r.num(high)), r.num(high), x);  // both are one instruction of x86 in this form
  return select(lt(most, r.num(low)), r.num(low), most);
}

/// e^(c - n ln2) - 1 for n = round(c / ln2).
Expr exp_of_rest_less_one(const Real& r, Expr c, Expr n) {
  Expr t = r.fma(n, r.num(-ln2_high(r)), c);
  t = r.fma(n, r.num(-ln2_low(r)), t);
  return exp_less_one(r, t, t);
}

/// tanh(a) with the sign of x, for 0 <= a <= 10 or NaN: with a = n ln2 / 2 + y and T = tanh y, the addition theorem
/// gives ((2^n + 1) T + (2^n - 1)) / ((2^n - 1) T + (2^n + 1)). The denominator is the numerator plus 2 - 2 T; computed
/// so, most of an error of the one is in the other as well. Where y begins at -ln2 / 20 and not at -ln2 / 4, results
/// below 0.30 are T, and numerators beyond have less to cancel: of all floats 1.72 ULP at most, else 2.35.
Expr tanh_single(const Real& r, Expr a, Expr x) {
  auto [n, bits] = r.nearest(a - r.num(0.14), r.num(2 * kLog2E), r.bias());
  Expr y = r.fma(n, r.num(-kLn2 / 2), a), y2 = y * y;
  Expr p = r.polynomial(y2, {-0.333333215448, 0.133323816107, -0.0537280268996, 0.0194472823186});
  Expr t = r.fma(y * y2, p, y);
  Expr power = r.power_of_two_of_exponent(bits), one = r.num(1);
  Expr top = r.fma(power + one, t, power - one);
  return r.copysign(top / (top + r.fma(t, r.num(-2), r.num(2))), x);
}

/// log of the mantissa m in [sqrt(1/2), sqrt(2)), as a sum of two parts.
struct LogParts {
  Expr high, low;
};
LogParts log_of_mantissa(const Real& r, Expr m) {
  Expr z = m - r.num(1);
  if (!r.is_double()) {
    Expr p = r.polynomial(z, {0.333333312, -0.24999997, 0.200007157, -0.166678023, 0.142490576, -0.124256873,
                              0.116854199, -0.114797338, 0.0697161147});
    Expr z2 = z * z;
    return {z, r.fma(z2 * z, p, z2 * r.num(-0.5))};
  }
  Expr s = z / (m + r.num(1)), s2 = s * s;
  Expr p =
      r.polynomial(s2, {0.33333333333333348477, 0.19999999999949619489, 0.14285714313047945769, 0.11111105557572080752,
                        0.090914452783478017639, 0.076658370150839309258, 0.073085187743958250731});
  // log m = 2 atanh(s) = z - s (z - 2 s^2 p): exact in its leading term.
  return {z, -(s * (z - r.num(2) * s2 * p))};
}

/// The result of log-like functions: `inside` for positive finite x, and the special values for all others.
Expr log_specials(const Real& r, Expr x, Expr inside) {
  Expr out = select(eq(x, r.num(HUGE_VAL)), r.num(HUGE_VAL), inside);
  out = select(eq(x, r.num(0)), r.num(-HUGE_VAL), out);
  return select(lt(x, r.num(0)), r.num(std::nan("")), select(r.isnan(x), x, out));
}

}  // namespace

Expr math_exp(const Real& r, Expr x) {
  Expr c = within(r, x, r.is_double() ? -746 : -104, r.is_double() ? 710 : 89);
  auto [n, bits] = r.nearest(c, r.num(kLog2E), 2 * r.bias());
  return r.scale_one_more(exp_of_rest_less_one(r, c, n), bits, c);
}

/// As math_exp, without what only results beyond 1 need.
Expr math_exp_nonpositive(const Real& r, Expr x) {
  Expr least = r.num(r.is_double() ? -746 : -104), c = select(lt(x, least), least, x);
  auto [n, bits] = r.nearest(c, r.num(kLog2E), r.bias() + r.half_range());
  return r.scale_one_more_down(exp_of_rest_less_one(r, c, n), bits);
}

Expr math_exp2(const Real& r, Expr x) {
  Expr c = r.is_double() ? clamp(r, x, -1080, 1025) : clamp(r, x, -152, 129);
  Expr n = r.round(c), f = c - n;
  Expr t = f * r.num(kLn2);
  Expr low = r.fma(f, r.num(kLn2), -t);
  return exp_of_parts(r, n, t, low);
}

/// 2^n (e^t - 1) + (2^n - 1), both terms of which are small where the sum is. n is at least -87, so only 2^n may be
/// beyond the range of normal numbers, at the largest n; half of it is not, and the 1 is less than a rounding there.
Expr math_expm1(const Real& r, Expr x) {
  Expr c = within(r, x, r.is_double() ? -60 : -30, r.is_double() ? 710 : 89);
  auto [n, bits] = r.nearest(c, r.num(kLog2E));
  Expr t = r.fma(n, r.num(-ln2_high(r)), c);
  Expr low = n * r.num(-ln2_low(r));
  Expr whole = t + low;
  low = low - (whole - t);
  Expr sum = exp_less_one(r, whole, whole + low);
  Expr large = gt(n, r.num(64)), none = r.context().imm(bits.dtype(), 0);
  Expr power = r.power_of_two_of_bits(bits - select(large, none + 1, none));
  Expr out = r.add_exact(power, sum, power - r.num(1)) * select(large, r.num(2), r.num(1));
  return select(eq(x, r.num(0)), x, out);
}

Expr math_log(const Real& r, Expr x) {
  auto [m, e] = r.split(x);
  LogParts p = log_of_mantissa(r, m);
  Expr low = r.fma(e, r.num(ln2_low(r)), p.low);
  return log_specials(r, x, r.fma(e, r.num(ln2_high(r)), p.high + low));
}

Expr math_log2(const Real& r, Expr x) {
  auto [m, e] = r.split(x);
  LogParts p = log_of_mantissa(r, m);
  double high = r.is_double() ? kLog2E : round_to_dtype(kLog2E, r.dtype());
  Expr product = p.high * r.num(high), error = r.fma(p.high, r.num(high), -product);
  Expr low =
      r.fma(p.high, r.num(r.is_double() ? 2.0355273740931033e-17 : kLog2E - high), r.fma(p.low, r.num(kLog2E), error));
  return log_specials(r, x, e + (product + low));
}

Expr math_log10(const Real& r, Expr x) {
  auto [m, e] = r.split(x);
  LogParts p = log_of_mantissa(r, m);
  double high = round_to_dtype(kLog10E, r.dtype());
  Expr product = p.high * r.num(high), error = r.fma(p.high, r.num(high), -product);
  Expr low =
      r.fma(p.high, r.num(r.is_double() ? 1.098319650216765e-17 : kLog10E - high), r.fma(p.low, r.num(kLog10E), error));
  double two = round_to_dtype(kLog10Of2, r.dtype());
  low = r.fma(e, r.num(r.is_double() ? -2.8037281277851704e-18 : kLog10Of2 - two), low);
  return log_specials(r, x, r.fma(e, r.num(two), product + low));
}

Expr math_log1p(const Real& r, Expr x) {
  // log(u) with u = 1 + x rounded, corrected by the part of x that the rounding lost.
  Expr u = x + r.num(1);
  Expr lost = select(lt(r.abs(x), r.num(1)), x - (u - r.num(1)), r.num(1) - (u - x));
  Expr safe = select(le(u, r.num(0)), r.num(1), u);
  Expr correction = select(lt(r.abs(u), r.num(r.is_double() ? 0x1p1000 : 0x1p100)), lost / safe, r.num(0));
  return select(eq(u, r.num(1)), x, math_log(r, u) + correction);
}

Expr math_pow(const Real& r, Expr x, Expr y) {
  RELAXC_CHECK(r.is_double(), "pow is computed in float64");
  Expr a = r.abs(x);
  auto [m, e] = r.split(a);
  // log a in two parts: s = (m-1)/(m+1) with its rounding error, the series on top, e ln2 in two parts.
  Expr z = m - r.num(1), d = m + r.num(1), s = z / d;
  Expr d_low = r.num(1) - (d - m);
  Expr s_low = (r.fma(-s, d, z) - s * d_low) / d;
  Expr s2 = s * s;
  Expr tail =
      r.polynomial(s2, {0.33333333333333348477, 0.19999999999949619489, 0.14285714313047945769, 0.11111105557572080752,
                        0.090914452783478017639, 0.076658370150839309258, 0.073085187743958250731});
  Expr two_s = s + s;
  Expr series = r.fma(two_s * s2, tail, s_low + s_low);
  Expr e_high = e * r.num(kLn2High64);  // exact: the constant has 32 bits
  Expr sum = e_high + two_s;
  Expr larger = ge(r.abs(e_high), r.abs(two_s));
  Expr sum_low = select(larger, two_s - (sum - e_high), e_high - (sum - two_s));
  Expr low = sum_low + r.fma(e, r.num(kLn2Low64), series);
  Expr high = sum + low;
  low = low - (high - sum);
  // e^(y log a), with the product in two parts.
  Expr product = y * high, product_low = r.fma(y, high, -product) + y * low;
  product_low = select(lt(r.abs(product), r.num(1e4)), product_low, r.num(0));
  Expr c = clamp(r, product, -746, 710);
  Expr n = r.round(c * r.num(kLog2E));
  Expr t = r.fma(n, r.num(-kLn2High64), c);
  t = r.fma(n, r.num(-kLn2Low64), t);
  Expr value = exp_of_parts(r, n, t, product_low);

  Expr one = r.num(1), zero = r.num(0), inf = r.num(HUGE_VAL), y_size = r.abs(y);
  Expr integral = logical_or(eq(r.floor(y), y), ge(y_size, r.num(0x1p53)));
  Expr half = y * r.num(0.5);
  Expr odd = logical_and(logical_and(integral, lt(y_size, r.num(0x1p53))), ne(r.floor(half), half));
  Expr negative_x = lt(r.copysign(one, x), zero);
  Expr rising = gt(y, zero);
  value = select(eq(a, zero), select(rising, zero, inf), value);
  value = select(eq(a, inf), select(rising, inf, zero), value);
  value = select(eq(y_size, inf), select(eq(a, one), one, select(eq(gt(a, one), rising), inf, zero)), value);
  value = select(logical_and(negative_x, odd), -value, value);
  Expr no_value = logical_and(logical_and(lt(x, zero), logical_not(integral)), lt(a, inf));
  value = select(no_value, r.num(std::nan("")), value);
  value = select(logical_or(r.isnan(x), r.isnan(y)), x + y, value);
  return select(logical_or(eq(y, zero), eq(x, one)), one, value);
}

/// 1 / (1 + e^-x). The sum is scaled by 2^-64 (float64: 2^-512): it cannot overflow, and a quotient that is subnormal
/// is rounded once.
Expr math_sigmoid(const Real& r, Expr x) {
  const int down = r.is_double() ? -512 : -64;
  Expr c = within(r, x, r.is_double() ? -746 : -104, r.is_double() ? 60 : 42);
  auto [n, bits] = r.nearest(c, r.num(-kLog2E), r.bias() + down);
  Expr power = r.power_of_two_of_exponent(bits), one = r.num(std::ldexp(1.0, down));
  return one / r.add_exact(exp_of_rest_less_one(r, -c, n), power, power + one);
}

Expr math_tanh(const Real& r, Expr x) {
  Expr a = r.abs(x);
  if (r.is_double()) {
    Expr e = math_expm1(r, a + a);
    return select(r.isnan(x), x, r.copysign(select(gt(a, r.num(22)), r.num(1), e / (e + r.num(2))), x));
  }
  return tanh_single(r, select(gt(a, r.num(10)), r.num(10), a), x);
}

Expr math_sinh(const Real& r, Expr x) {
  Expr a = r.abs(x), e = math_expm1(r, a);
  Expr moderate = (e + e / (e + r.num(1))) * r.num(0.5);
  Expr half = math_exp(r, a * r.num(0.5));
  Expr value = select(gt(a, r.num(r.is_double() ? 40 : 20)), half * r.num(0.5) * half, moderate);
  return select(r.isnan(x), x, r.copysign(value, x));
}

Expr math_cosh(const Real& r, Expr x) {
  Expr a = r.abs(x), e = math_exp(r, a), half = math_exp(r, a * r.num(0.5));
  Expr moderate = (e + r.num(1) / e) * r.num(0.5);
  return select(gt(a, r.num(r.is_double() ? 40 : 20)), half * r.num(0.5) * half, moderate);
}

Expr math_asinh(const Real& r, Expr x) {
  Expr a = r.abs(x), a2 = a * a;
  Expr moderate = math_log1p(r, a + a2 / (r.num(1) + r.sqrt(a2 + r.num(1))));
  Expr large = math_log(r, a) + r.num(kLn2);
  Expr value = select(gt(a, r.num(r.is_double() ? 0x1p30 : 0x1p14)), large, moderate);
  return select(logical_or(r.isnan(x), eq(x, r.num(0))), x, r.copysign(value, x));
}

Expr math_acosh(const Real& r, Expr x) {
  Expr t = x - r.num(1);
  Expr moderate = math_log1p(r, t + r.sqrt(r.fma(t, t, t + t)));
  Expr large = math_log(r, x) + r.num(kLn2);
  Expr value = select(gt(x, r.num(r.is_double() ? 0x1p30 : 0x1p14)), large, moderate);
  return select(lt(x, r.num(1)), r.num(std::nan("")), value);
}

Expr math_atanh(const Real& r, Expr x) {
  Expr a = r.abs(x);
  Expr value = math_log1p(r, (a + a) / (r.num(1) - a)) * r.num(0.5);
  value = select(eq(a, r.num(1)), r.num(HUGE_VAL), value);
  value = select(gt(a, r.num(1)), r.num(std::nan("")), r.copysign(value, x));
  return select(logical_or(r.isnan(x), eq(x, r.num(0))), x, value);
}

Expr math_exp10(const Real& r, Expr x) {
  return math_pow(r, r.num(10), x);
}

}  // namespace relaxc::arith
