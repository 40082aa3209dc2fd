// build.cpp: operators and functions that build expressions.
#include "compiler/arith/expr.h"

namespace relaxc::arith {
namespace {

Expr make(ExprKind kind, Expr a, Expr b) {
  return a.context().binary(kind, a, b);
}
Expr like(Expr e, int64_t value) {
  return e.context().number(e.dtype(), static_cast<double>(value));
}
Expr constant_like(Expr e, int64_t value) {
  return e.dtype().is_float() ? like(e, value) : e.context().imm(e.dtype(), value);
}

}  // namespace

Expr operator+(Expr a, Expr b) {
  return make(ExprKind::kAdd, a, b);
}
Expr operator-(Expr a, Expr b) {
  return make(ExprKind::kSub, a, b);
}
Expr operator*(Expr a, Expr b) {
  return make(ExprKind::kMul, a, b);
}
Expr operator/(Expr a, Expr b) {
  return make(ExprKind::kDiv, a, b);
}
Expr operator+(Expr a, int64_t b) {
  return a + constant_like(a, b);
}
Expr operator-(Expr a, int64_t b) {
  return a - constant_like(a, b);
}
Expr operator*(Expr a, int64_t b) {
  return a * constant_like(a, b);
}
/// Floats negate as -0.0 - a, which keeps the sign of zero.
Expr operator-(Expr a) {
  return a.dtype().is_float() ? a.context().imm_float(a.dtype(), -0.0) - a : constant_like(a, 0) - a;
}
Expr floordiv(Expr a, Expr b) {
  return make(ExprKind::kFloorDiv, a, b);
}
Expr floordiv(Expr a, int64_t b) {
  return floordiv(a, constant_like(a, b));
}
Expr floormod(Expr a, Expr b) {
  return make(ExprKind::kFloorMod, a, b);
}
Expr floormod(Expr a, int64_t b) {
  return floormod(a, constant_like(a, b));
}
Expr ceildiv(Expr a, Expr b) {
  return floordiv(a + b - 1, b);
}
Expr ceildiv(Expr a, int64_t b) {
  return ceildiv(a, constant_like(a, b));
}
Expr min(Expr a, Expr b) {
  return make(ExprKind::kMin, a, b);
}
Expr max(Expr a, Expr b) {
  return make(ExprKind::kMax, a, b);
}
Expr eq(Expr a, Expr b) {
  return make(ExprKind::kEq, a, b);
}
Expr eq(Expr a, int64_t b) {
  return eq(a, constant_like(a, b));
}
Expr ne(Expr a, Expr b) {
  return make(ExprKind::kNe, a, b);
}
Expr lt(Expr a, Expr b) {
  return make(ExprKind::kLt, a, b);
}
Expr le(Expr a, Expr b) {
  return make(ExprKind::kLe, a, b);
}
Expr gt(Expr a, Expr b) {
  return lt(b, a);
}
Expr ge(Expr a, Expr b) {
  return le(b, a);
}
Expr logical_and(Expr a, Expr b) {
  return make(ExprKind::kAnd, a, b);
}
Expr logical_or(Expr a, Expr b) {
  return make(ExprKind::kOr, a, b);
}
Expr logical_not(Expr a) {
  return a.context().negate(a);
}
Expr select(Expr condition, Expr t, Expr f) {
  return condition.context().select(condition, t, f);
}
Expr cast(DType dtype, Expr value) {
  return value.context().cast(dtype, value);
}

Expr call(Intrinsic intrinsic, std::vector<Expr> args) {
  bool asks = intrinsic == Intrinsic::k_isnan || intrinsic == Intrinsic::k_isinf;
  DType dtype = asks ? DType::boolean() : args.at(0).dtype();
  return args[0].context().call(dtype, intrinsic, std::move(args));
}

}  // namespace relaxc::arith
