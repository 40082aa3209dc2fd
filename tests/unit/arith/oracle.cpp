// oracle.cpp: definitions as one would write them on a blackboard.
#include "oracle.h"

#include "compiler/arith/visit.h"

namespace relaxc::test {

using namespace arith;

namespace {

constexpr Wide kFar = Wide(1) << 100;

Wide wrapped(Wide value, DType dtype) {
  if (dtype.is_bool()) return value != 0;
  Wide period = Wide(1) << dtype.bits, rest = value % period;
  if (rest < 0) rest += period;
  return dtype.is_int() && rest >= period / 2 ? rest - period : rest;
}

Wide floor_quotient(Wide a, Wide b) {
  Wide quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::optional<Wide> integer(ExprKind kind, Wide a, Wide b) {
  bool divides =
      kind == ExprKind::kDiv || kind == ExprKind::kMod || kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod;
  if (divides && b == 0) return std::nullopt;
  switch (kind) {
    case ExprKind::kAdd:
      return a + b;
    case ExprKind::kSub:
      return a - b;
    case ExprKind::kMul: {
      Wide product = 0;
      return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional(product);
    }
    case ExprKind::kDiv:
      return a / b;
    case ExprKind::kMod:
      return a - a / b * b;
    case ExprKind::kFloorDiv:
      return floor_quotient(a, b);
    case ExprKind::kFloorMod:
      return a - floor_quotient(a, b) * b;
    case ExprKind::kMin:
      return a < b ? a : b;
    case ExprKind::kMax:
      return a < b ? b : a;
    case ExprKind::kEq:
      return a == b;
    case ExprKind::kNe:
      return a != b;
    case ExprKind::kLt:
      return a < b;
    case ExprKind::kLe:
      return a <= b;
    case ExprKind::kAnd:
      return a != 0 && b != 0;
    case ExprKind::kOr:
      return a != 0 || b != 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

Oracle::Oracle(Expr root) {
  for_each_node(root, [&](Expr e) { order_.push_back(e); });
}

std::optional<Wide> Oracle::node(Expr e) const {
  if (const auto* imm = e.as<IntImm>()) return e.dtype().is_uint() ? wrapped(imm->value, e.dtype()) : imm->value;
  if (const auto* no = e.as<Not>()) return of(no->a) ? std::optional<Wide>(*of(no->a) == 0) : std::nullopt;
  if (const auto* n = e.as<Select>()) {
    auto chosen = of(n->condition);
    return chosen ? of(*chosen != 0 ? n->then_value : n->else_value) : std::nullopt;
  }
  if (const auto* n = e.as<Cast>()) {
    auto value = of(n->value);
    if (!value) return std::nullopt;
    if (!e.dtype().is_index()) return wrapped(*value, e.dtype());
    return n->value.dtype() == DType::u(64) ? wrapped(*value, DType::i(64)) : *value;
  }
  const auto& n = static_cast<const Binary&>(*e.node());
  auto a = of(n.a), b = of(n.b);
  if (a && n.kind == ExprKind::kAnd && *a == 0) return a;
  if (a && n.kind == ExprKind::kOr && *a != 0) return a;
  if (!a || !b) return std::nullopt;
  auto value = integer(n.kind, *a, *b);
  return value && e.dtype().is_integer() ? wrapped(*value, e.dtype()) : value;
}

std::optional<Wide> Oracle::at(const std::vector<Var>& vars, const std::vector<int64_t>& values) {
  narrow_ = true;
  for (size_t i = 0; i < vars.size(); ++i) values_[vars[i]] = values[i];
  for (Expr e : order_) {
    if (e.as<VarNode>() != nullptr) continue;
    std::optional<Wide> value = node(e);
    if (value && (*value > kFar || *value < -kFar)) value.reset();
    narrow_ = narrow_ && (!value || (*value >= INT64_MIN && *value <= INT64_MAX));
    values_[e] = value;
  }
  return values_.at(order_.back());
}

}  // namespace relaxc::test
