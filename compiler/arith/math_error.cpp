// math_error.cpp: erf.
//
// Near zero erf(x) / x is a polynomial of x^2. Beyond, float32 takes 1 - exp(x q(x)), whose polynomial is log(erfc(x))
// / x with an error that is least by its effect, x erfc(x) times as large: three terms fewer than one of the least
// relative error. Of all floats, 1.6 ULP at most. float64 takes 1 - exp(-x^2) g(u) / (1 + 2 x) with u = (x - 3) / (x +
// 3), in which g is smooth (after Faddeeva). Where erf rounds to 1 the argument is clamped.
#include "compiler/arith/math_real.h"

namespace relaxc::arith {
namespace {

/// 1 - e^x for x in [-18, -1.5]. What e^x, at most 0.21, is off by is a fifth of that here, or less: one part of ln2
/// and a short polynomial do.
Expr one_less_exp(const Real& r, Expr x) {
  auto [n, bits] = r.nearest(x, r.num(1.4426950408889634074), r.bias());
  Expr t = r.fma(n, r.num(-0.69314718055994530942), x), t2 = t * t;
  Expr tail = r.polynomial_in_pairs(t, t2, {0.499992311, 0.166671142, 0.0418901481, 0.0083125215});
  return r.num(1) - r.one_more_by(r.fma(t2, tail, t), r.power_of_two_of_exponent(bits));
}

Expr erf_single(const Real& r, Expr x) {
  Expr size = r.abs(x), a = select(lt(size, r.num(4)), size, r.num(4)), s = x * x;
  Expr near =
      r.fma(x,
            r.polynomial_in_pairs(
                s, s * s, {0.128379151, -0.376125216, 0.112821393, -0.0267788619, 0.00501190498, -0.000609010167}),
            x);
  Expr q = r.polynomial_in_pairs(
      a, a * a, {-1.12851655, -0.635711253, -0.105270505, 0.0228951238, -0.00321645103, 0.000214153813});
  Expr far = r.copysign(one_less_exp(r, a * q), x);
  return select(ge(size, r.num(0.9)), far, near);  // near, if x is NaN
}

Expr erf_double(const Real& r, Expr x) {
  Expr a = min(r.abs(x), r.num(6)), s = x * x;
  Expr near = r.fma(x,
                    r.polynomial(s, {0.12837916709551257389, -0.37612638903183752379, 0.11283791670955120236,
                                     -0.026866170645129840806, 0.0052239776254232983087, -0.00085483270219348295955,
                                     0.0001205533290288873541, -0.000014925647567519332125, 1.6462045441468418937e-6,
                                     -1.6364642158167615302e-7, 1.4792401209404813002e-8, -1.2164560057283450081e-9,
                                     8.7090451290531066896e-11, -4.2309458242953378173e-12}),
                    x);
  Expr u = (a - r.num(3)) / (a + r.num(3));
  Expr g = r.polynomial(
      u, {1.2530080582697296529,    -0.13562110612458119294,     -0.047562294353451190305,   0.12964515870276263775,
          -0.11927366341527383373,  0.068308027343922680613,     -0.023770514919671713953,   0.002529391816709379516,
          0.0018886903739324714755, -0.00077983227530988142079,  -0.00010515991983623216978, 0.00012509935201878409161,
          4.9500961187157911302e-6, -0.000020100458954737674371, -7.335921710229656618e-7,   3.4715494174322314161e-6,
          3.6165179543246167312e-7, -6.1258601242189045622e-7,   -1.480695146981690287e-7,   9.0667839677874351315e-8,
          4.2342076675955108837e-8});
  Expr tail = math_exp(r, -(a * a)) * g / r.fma(r.num(2), a, r.num(1));
  Expr far = r.copysign(r.num(1) - tail, x);
  return select(r.isnan(x), x, select(lt(a, r.num(1)), near, far));
}

}  // namespace

Expr math_erf(const Real& r, Expr x) {
  return r.is_double() ? erf_double(r, x) : erf_single(r, x);
}

}  // namespace relaxc::arith
