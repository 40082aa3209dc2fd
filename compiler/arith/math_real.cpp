// math_real.cpp: polynomials, and operations on the bits of floats.
#include "compiler/arith/math_real.h"

#include <cmath>

namespace relaxc::arith {

Expr Real::polynomial(Expr x, std::initializer_list<double> coefficients) const {
  const double* end = coefficients.end();
  Expr sum = num(*--end);
  while (end != coefficients.begin()) sum = fma(sum, x, num(*--end));
  return sum;
}

Expr Real::polynomial_in_pairs(Expr x, Expr x2, std::initializer_list<double> coefficients) const {
  const bool odd = coefficients.size() % 2 != 0;
  const double* end = coefficients.end();
  Expr sum = odd ? num(*--end) : Expr();
  for (; end != coefficients.begin(); end -= 2) {
    Expr pair = fma(num(end[-1]), x, num(end[-2]));
    sum = sum ? fma(sum, x2, pair) : pair;
  }
  return sum;
}

Expr Real::power_of_two(Expr n) const {
  int64_t mantissa = is_double() ? 52 : 23;
  Expr exponent = cast(bits_dtype(), n) + bias();
  Expr bits = context_.call(bits_dtype(), Intrinsic::k_shift_left, {exponent, context_.imm(bits_dtype(), mantissa)});
  return context_.call(dtype_, Intrinsic::k_bitcast, {bits});
}

Expr Real::scale(Expr x, Expr n) const {
  Expr half = floor(n * num(0.5));
  return x * power_of_two(half) * power_of_two(n - half);
}

Real::Nearest Real::nearest(Expr a, Expr b, int64_t base) const {
  double magic = (is_double() ? 0x1.8p52 : 0x1.8p23) + static_cast<double>(base);
  Expr sum = fma(a, b, num(magic));
  return {sum - num(magic), context_.call(bits_dtype(), Intrinsic::k_bitcast, {sum})};
}

/// What is above the low bits is shifted out.
Expr Real::power_of_two_of_exponent(Expr bits) const {
  Expr width = context_.imm(bits_dtype(), is_double() ? 52 : 23);
  Expr exponent = context_.call(bits_dtype(), Intrinsic::k_shift_left, {bits, width});
  return context_.call(dtype_, Intrinsic::k_bitcast, {exponent});
}

/// The same.
Expr Real::power_of_two_of_bits(Expr bits) const {
  Expr width = context_.imm(bits_dtype(), is_double() ? 52 : 23);
  Expr one = context_.imm(bits_dtype(), is_double() ? 0x3ff0000000000000 : 0x3f800000);
  Expr exponent = context_.call(bits_dtype(), Intrinsic::k_shift_left, {bits, width});
  return context_.call(dtype_, Intrinsic::k_bitcast, {exponent + one});
}

Expr Real::scale_one_more(Expr x, Expr bits, Expr sign) const {
  Expr width = context_.imm(bits_dtype(), is_double() ? 52 : 23);
  Expr sign_bits = context_.call(bits_dtype(), Intrinsic::k_bitcast, {sign});
  const double step = std::ldexp(1.0, static_cast<int>(half_range()));
  Expr second = select(lt(sign_bits, context_.imm(bits_dtype(), 0)), num(1 / step), num(step));
  // The exponent of the second factor includes bias(), hence twice that in `bits`.
  Expr exponent = context_.call(bits_dtype(), Intrinsic::k_shift_left, {bits, width}) -
                  context_.call(bits_dtype(), Intrinsic::k_bitcast, {second});
  return one_more_by(x, context_.call(dtype_, Intrinsic::k_bitcast, {exponent})) * second;
}

Expr Real::scale_one_more_down(Expr x, Expr bits) const {
  return one_more_by(x, power_of_two_of_exponent(bits)) * num(std::ldexp(1.0, -static_cast<int>(half_range())));
}

Real::Parts Real::split(Expr x) const {
  int64_t mantissa_bits = is_double() ? 52 : 23;
  double smallest_normal = is_double() ? 0x1p-1022 : 0x1p-126, up = is_double() ? 0x1p54 : 0x1p25;
  Expr tiny = lt(x, num(smallest_normal));
  Expr scaled = select(tiny, x * num(up), x);
  Expr bits = context_.call(bits_dtype(), Intrinsic::k_bitcast, {scaled});
  // The bits less those of sqrt(1/2): its exponent field is then the exponent that leaves a mantissa in the wanted
  // range.
  Expr root = context_.call(bits_dtype(), Intrinsic::k_bitcast, {num(0.70710678118654752440)});
  Expr width = context_.imm(bits_dtype(), mantissa_bits);
  Expr exponent = context_.call(bits_dtype(), Intrinsic::k_shift_right, {bits - root, width});
  Expr exponent_bits = context_.call(bits_dtype(), Intrinsic::k_shift_left, {exponent, width});
  Expr mantissa = context_.call(dtype_, Intrinsic::k_bitcast, {bits - exponent_bits});
  return {mantissa, cast(dtype_, exponent) - select(tiny, num(is_double() ? 54 : 25), num(0))};
}

}  // namespace relaxc::arith
