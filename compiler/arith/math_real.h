// math_real.h: writes float functions as C++ expressions over one float dtype.
#pragma once

#include <initializer_list>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// Builds expressions of one float dtype (float32 or float64).
class Real {
 public:
  Real(Context& context, DType dtype, bool fused) : context_(context), dtype_(dtype), fused_(fused) {}

  Context& context() const { return context_; }
  DType dtype() const { return dtype_; }
  bool is_double() const { return dtype_.bits == 64; }

  Expr num(double value) const { return context_.imm_float(dtype_, value); }
  Expr fma(Expr a, Expr b, Expr c) const { return call(Intrinsic::k_fma, {a, b, c}); }
  /// Returns a * b + c for an a * b that is exact or too small to matter: the same bits with one rounding or two.
  Expr add_exact(Expr a, Expr b, Expr c) const { return fused_ ? fma(a, b, c) : a * b + c; }
  Expr abs(Expr a) const { return call(Intrinsic::k_abs, {a}); }
  Expr round(Expr a) const { return call(Intrinsic::k_round, {a}); }
  Expr floor(Expr a) const { return call(Intrinsic::k_floor, {a}); }
  Expr sqrt(Expr a) const { return call(Intrinsic::k_sqrt, {a}); }
  Expr copysign(Expr a, Expr b) const { return call(Intrinsic::k_copysign, {a, b}); }
  Expr isnan(Expr a) const { return call(Intrinsic::k_isnan, {a}); }
  Expr negative(Expr a) const { return -a; }

  /// Returns c0 + c1 x + c2 x^2 + …, by Horner's scheme in fmas.
  Expr polynomial(Expr x, std::initializer_list<double> coefficients) const;
  /// The same by Horner's scheme in x2 = x * x over pairs of terms: as many fmas, but a chain of dependent ones that is
  /// half as long.
  Expr polynomial_in_pairs(Expr x, Expr x2, std::initializer_list<double> coefficients) const;
  /// Returns x * 2^n for an integral float n with |n| <= 2 * the exponent's range; in two steps, so that subnormal
  /// results are rounded once.
  Expr scale(Expr x, Expr n) const;
  /// What is added to an exponent to store it.
  int64_t bias() const { return is_double() ? 1023 : 127; }
  /// a * b to the nearest integer, |a * b| < 2^21, and in the low bits of an integer the same plus `base`; NaN stays
  /// NaN. Costs less than round and a conversion: adding 1.5 * 2^23 leaves the integer in the low bits of the sum.
  struct Nearest {
    Expr value, bits;
  };
  Nearest nearest(Expr a, Expr b, int64_t base = 0) const;
  /// (x + 1) * power, for a power of two and no result that is subnormal: rounded as x + 1 is.
  Expr one_more_by(Expr x, Expr power) const { return fused_ ? fma(x, power, power) : (x + num(1)) * power; }
  /// Returns (x + 1) * 2^n for `bits`, which `nearest` returned for n with the base 2 * bias(), and `sign`, which is
  /// negative if n is: in two steps, so that subnormal results are rounded once. The second factor is one of two
  /// constants, which is less work than two halves of the exponent.
  Expr scale_one_more(Expr x, Expr bits, Expr sign) const;
  /// The same for n < half_range(), and `bits` with the base bias() + half_range(): one constant is enough.
  Expr scale_one_more_down(Expr x, Expr bits) const;
  /// The exponent of the second factor, half of that of the largest numbers.
  int64_t half_range() const { return is_double() ? 512 : 64; }
  /// Returns 2^n for the n in the low bits of the result of `nearest`, within the range of normal exponents.
  Expr power_of_two_of_bits(Expr bits) const;
  /// The same for n + bias(): the bits are stored as an exponent as they are.
  Expr power_of_two_of_exponent(Expr bits) const;
  /// x = mantissa * 2^exponent with mantissa in [sqrt(1/2), sqrt(2)); for positive finite x, subnormals included.
  struct Parts {
    Expr mantissa, exponent;
  };
  Parts split(Expr x) const;
  /// Returns 2^n for an integral float n in the range of normal exponents.
  Expr power_of_two(Expr n) const;

 private:
  DType bits_dtype() const { return DType::i(dtype_.bits); }

  Context& context_;
  DType dtype_;
  bool fused_;  ///< whether fused multiply-adds are instructions
};

// The functions, on operands of `r`'s dtype. math_explog.cpp: exponentials and logarithms;
// math_trig.cpp: circular functions; math_error.cpp: erf; math_bits.cpp: functions of the parts of a
// float.
Expr math_exp(const Real& r, Expr x);
Expr math_exp_nonpositive(const Real& r, Expr x);
Expr math_exp2(const Real& r, Expr x);
Expr math_exp10(const Real& r, Expr x);  ///< float64 only
Expr math_expm1(const Real& r, Expr x);
Expr math_log(const Real& r, Expr x);
Expr math_log2(const Real& r, Expr x);
Expr math_log10(const Real& r, Expr x);
Expr math_log1p(const Real& r, Expr x);
Expr math_pow(const Real& r, Expr x, Expr y);  ///< float64 only
Expr math_sigmoid(const Real& r, Expr x);
Expr math_tanh(const Real& r, Expr x);
Expr math_sinh(const Real& r, Expr x);
Expr math_cosh(const Real& r, Expr x);
Expr math_asinh(const Real& r, Expr x);
Expr math_acosh(const Real& r, Expr x);
Expr math_atanh(const Real& r, Expr x);
Expr math_erf(const Real& r, Expr x);
Expr math_nextafter(const Real& r, Expr x, Expr y);
// float64 only:
Expr math_sin(const Real& r, Expr x);
Expr math_cos(const Real& r, Expr x);
Expr math_tan(const Real& r, Expr x);
Expr math_asin(const Real& r, Expr x);
Expr math_acos(const Real& r, Expr x);
Expr math_atan(const Real& r, Expr x);
Expr math_atan2(const Real& r, Expr y, Expr x);
Expr math_hypot(const Real& r, Expr x, Expr y);
Expr math_ldexp(const Real& r, Expr x, Expr n);

}  // namespace relaxc::arith
