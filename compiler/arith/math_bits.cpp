// math_bits.cpp: functions that depend on the parts of a float: ldexp, nextafter, and hypot, whose sum of squares may
// leave the range of exponents.
#include <cmath>

#include "compiler/arith/math_real.h"

namespace relaxc::arith {

/// Large and small operands are scaled by a power of two, which is exact, so that their squares are in range.
Expr math_hypot(const Real& r, Expr x, Expr y) {
  Expr a = r.abs(x), b = r.abs(y), most = max(a, b);
  Expr down = gt(most, r.num(0x1p500)), up = lt(most, r.num(0x1p-500));
  Expr by = select(down, r.num(0x1p-600), select(up, r.num(0x1p600), r.num(1)));
  Expr back = select(down, r.num(0x1p600), select(up, r.num(0x1p-600), r.num(1)));
  Expr root = r.sqrt(r.fma(a * by, a * by, (b * by) * (b * by))) * back;
  Expr infinity = r.num(HUGE_VAL);
  return select(logical_or(eq(a, infinity), eq(b, infinity)), infinity, root);
}

/// Three factors reach from any float to any other. If the last one does not suffice, the others are exact or give 0;
/// so a subnormal result is rounded once.
Expr math_ldexp(const Real& r, Expr x, Expr n) {
  auto in_range = [&](Expr e) { return max(min(e, r.num(1023)), r.num(-1022)); };
  Expr last = in_range(n), middle = in_range(n - last), first = in_range(n - last - middle);
  return x * r.power_of_two(first) * r.power_of_two(middle) * r.power_of_two(last);
}

/// As integers, the bits of floats of one sign are consecutive: the next float away from zero is one more.
Expr math_nextafter(const Real& r, Expr x, Expr y) {
  Context& context = r.context();
  DType bits = DType::i(r.dtype().bits);
  Expr count = context.call(bits, Intrinsic::k_bitcast, {x});
  Expr away = eq(lt(x, y), lt(r.num(0), x));
  Expr stepped = select(away, count + 1, count - 1);
  Expr least = context.call(r.dtype(), Intrinsic::k_bitcast, {context.imm(bits, 1)});
  Expr from_zero = r.copysign(least, y);
  Expr moved = select(eq(x, r.num(0)), from_zero, context.call(r.dtype(), Intrinsic::k_bitcast, {stepped}));
  return select(logical_or(r.isnan(x), r.isnan(y)), x + y, select(eq(x, y), y, moved));
}

}  // namespace relaxc::arith
