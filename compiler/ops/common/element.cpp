// element.cpp: see element.h.
#include "compiler/ops/common/element.h"

#include <cmath>
#include <limits>

namespace relaxc::ops {

DType wide(DType dtype) {
  return dtype.is_float() && dtype.bits < 32 ? DType::f(32) : dtype;
}

Expr like(Expr e, double value) {
  return e.context().number(e.dtype(), value);
}

Expr lowest(Context& context, DType dtype) {
  if (dtype.is_float()) return context.imm_float(dtype, -std::numeric_limits<double>::infinity());
  if (dtype.is_int()) return context.imm(dtype, std::numeric_limits<int64_t>::min() >> (64 - dtype.bits));
  return context.imm(dtype, 0);
}

Expr highest(Context& context, DType dtype) {
  if (dtype.is_float()) return context.imm_float(dtype, std::numeric_limits<double>::infinity());
  if (dtype.is_int()) return context.imm(dtype, std::numeric_limits<int64_t>::max() >> (64 - dtype.bits));
  return context.imm(dtype, dtype.is_bool() ? 1 : -1);
}

Expr call(Intrinsic intrinsic, Expr a) {
  return arith::call(intrinsic, {a});
}
Expr call(Intrinsic intrinsic, Expr a, Expr b) {
  return arith::call(intrinsic, {a, b});
}

namespace {

/// Returns divide(a, b), except that a divisor of 0 gives 0 and a divisor of -1 gives `by_minus_one`.
Expr guarded(Expr a, Expr b, Expr (*divide)(Expr, Expr), Expr by_minus_one) {
  Expr zero = like(b, 0);
  if (const int64_t* value = b.constant(); value != nullptr && *value != 0 && *value != -1) return divide(a, b);
  Expr is_zero = arith::eq(b, zero);
  if (b.dtype().is_uint()) return select(is_zero, zero, divide(a, select(is_zero, like(b, 1), b)));
  Expr is_minus_one = arith::eq(b, like(b, -1));
  Expr divisor = select(arith::logical_or(is_zero, is_minus_one), like(b, 1), b);
  return select(is_zero, zero, select(is_minus_one, by_minus_one, divide(a, divisor)));
}

Expr binary(arith::ExprKind kind, Expr a, Expr b) {
  return a.context().binary(kind, a, b);
}

}  // namespace

Expr safe_div(Expr a, Expr b) {
  if (!a.dtype().is_integer()) return a / b;
  return guarded(
      a, b, [](Expr x, Expr y) { return x / y; }, -a);
}

Expr safe_mod(Expr a, Expr b) {
  if (!a.dtype().is_integer()) return binary(arith::ExprKind::kMod, a, b);
  return guarded(
      a, b, [](Expr x, Expr y) { return binary(arith::ExprKind::kMod, x, y); }, like(a, 0));
}

Expr safe_floor_div(Expr a, Expr b) {
  if (!a.dtype().is_integer()) return call(Intrinsic::k_floor, a / b);
  return guarded(
      a, b, [](Expr x, Expr y) { return arith::floordiv(x, y); }, -a);
}

Expr safe_floor_mod(Expr a, Expr b) {
  if (a.dtype().is_integer())
    return guarded(
        a, b, [](Expr x, Expr y) { return arith::floormod(x, y); }, like(a, 0));
  Expr rest = binary(arith::ExprKind::kMod, a, b);
  Expr zero = like(a, 0);
  Expr other_sign = arith::ne(arith::lt(rest, zero), arith::lt(b, zero));
  return select(arith::eq(rest, zero), call(Intrinsic::k_copysign, zero, b), select(other_sign, rest + b, rest));
}

bool is_number(DType dtype) {
  return dtype.is_float() || dtype.is_integer();
}

bool is_float(DType dtype) {
  return dtype.is_float();
}

relaxc::Status expect_dtype(InferContext& c, size_t operand, bool (*fits)(DType), const char* expected) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(operand));
  if (fits(*x->dtype)) return Done{};
  return c.error(Kind::dtype_mismatch, "'{}' takes {}, found {}", c.op.def->name, expected, to_string(*x->dtype));
}

}  // namespace relaxc::ops
