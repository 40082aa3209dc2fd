// evaluate.cpp: the value of an index or bool expression at one point.
#include "compiler/arith/range.h"
#include "compiler/arith/simplify.h"

namespace relaxc::arith {
namespace {

using Value = std::optional<int64_t>;

Value binary(ExprKind kind, int64_t a, int64_t b) {
  int64_t out = 0;
  bool divides =
      kind == ExprKind::kDiv || kind == ExprKind::kMod || kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod;
  if (divides && (b == 0 || (a == INT64_MIN && b == -1))) return std::nullopt;
  switch (kind) {
    case ExprKind::kAdd:
      return __builtin_add_overflow(a, b, &out) ? Value() : out;
    case ExprKind::kSub:
      return __builtin_sub_overflow(a, b, &out) ? Value() : out;
    case ExprKind::kMul:
      return __builtin_mul_overflow(a, b, &out) ? Value() : out;
    case ExprKind::kDiv:
      return a / b;
    case ExprKind::kMod:
      return a % b;
    case ExprKind::kFloorDiv:
      return floor_divide(a, b);
    case ExprKind::kFloorMod:
      return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);
    case ExprKind::kMin:
      return std::min(a, b);
    case ExprKind::kMax:
      return std::max(a, b);
    case ExprKind::kEq:
      return a == b;
    case ExprKind::kNe:
      return a != b;
    case ExprKind::kLt:
      return a < b;
    case ExprKind::kLe:
      return a <= b;
    default:
      RELAXC_UNREACHABLE("and, or are not strict");
  }
}

}  // namespace

std::optional<int64_t> evaluate(Expr root, const std::function<int64_t(Var)>& value_of) {
  std::unordered_map<Expr, Value> values;
  auto of = [&](Expr e) { return values.at(e); };
  auto exact = [](DType dtype) { return dtype.is_index() || dtype.is_bool(); };
  for_each_node(root, [&](Expr e) {
    values[e] = visit(
        e, [&](const IntImm& n) -> Value { return n.value; },
        [&](const VarNode& n) -> Value { return exact(n.dtype) ? Value(value_of(Var(&n))) : Value(); },
        [&](const And& n) { return of(n.a) && *of(n.a) == 0 ? of(n.a)
                                   : of(n.a)                ? of(n.b)
                                                            : Value(); },
        [&](const Or& n) { return of(n.a) && *of(n.a) != 0 ? of(n.a)
                                  : of(n.a)                ? of(n.b)
                                                           : Value(); },
        [&](const Binary& n) {
          bool known = of(n.a) && of(n.b) && exact(n.a.dtype());
          return known ? binary(n.kind, *of(n.a), *of(n.b)) : Value();
        },
        [&](const Not& n) { return of(n.a) ? Value(*of(n.a) == 0) : Value(); },
        [&](const Select& n) {
          return of(n.condition) ? of(*of(n.condition) != 0 ? n.then_value : n.else_value) : Value();
        },
        [&](const Cast& n) {
          bool whole = !n.dtype.is_float() && !n.dtype.is_complex() && of(n.value);
          return whole ? Value(wrap_to_dtype(*of(n.value), n.dtype)) : Value();
        },
        [](const FloatImm&) { return Value(); }, [](const Load&) { return Value(); },
        [](const Call&) { return Value(); });
  });
  return values.at(root);
}

}  // namespace relaxc::arith
