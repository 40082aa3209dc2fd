// generator.cpp: shapes of expressions as programs have them, and odd ones.
#include "generator.h"

#include <cstdlib>

namespace relaxc::test {

using namespace arith;

Seeds seeds(uint32_t first, uint32_t count) {
  const char *shift = std::getenv("ARITH_SEED"), *times = std::getenv("ARITH_RUNS");
  uint32_t more = times == nullptr ? 1 : static_cast<uint32_t>(std::strtoul(times, nullptr, 10));
  return {first + (shift == nullptr ? 0 : static_cast<uint32_t>(std::strtoul(shift, nullptr, 10))), count * more};
}

Generator::Generator(Context& context, uint32_t seed) : context_(context), random_(seed) {
  for (const char* name : {"a", "b", "c", "d"}) add_variable(name);
  for (int64_t more = pick(-1, 2); more > 0; --more) add_assumption();
  for (Expr e : assumed_) assumed_values_.emplace_back(e);
}

/// Bounded or not, positive or not, a multiple or not; unbounded ones are tried within a window.
void Generator::add_variable(const char* name) {
  Var v = context_.var(name);
  int64_t lower = pick(0, 2) == 0 ? pick(-12, 5) : pick(0, 1), upper = lower + pick(0, 3) * pick(0, 9);
  int64_t factor = pick(0, 3) == 0 ? pick(2, 6) : 1, rest = pick(0, 3) == 0 ? pick(-3, 7) : 0;
  bool from_below = pick(0, 3) != 0, from_above = pick(0, 1) != 0;
  if (from_below) facts_.bound(v, Range::at_least(lower));
  if (from_above) facts_.bound(v, {INT64_MIN, upper});
  facts_.congruent(v, {factor, rest});
  vars_.push_back(v);
  lower_.push_back(from_below ? lower : std::min<int64_t>(lower, -25));
  upper_.push_back(from_above ? upper : std::max<int64_t>(upper, 25));
  factor_.push_back(factor), rest_.push_back(rest);
}

void Generator::add_assumption() {
  auto some = [&]() -> Expr {
    switch (pick(0, 5)) {
      case 0:
        return var() + pick(-3, 3);
      case 1:
        return var() * pick(1, 4) + pick(0, 3);
      case 2:
        return floordiv(var() + pick(0, 3), pick(2, 4));
      case 3:
        return var() * var();
      case 4:
        return floormod(var(), pick(2, 5));
      default:
        return var();
    }
  };
  Expr a = some(), b = pick(0, 3) == 0 ? context_.index(pick(-2, 8)) : some();
  constexpr ExprKind kKinds[] = {ExprKind::kEq, ExprKind::kNe, ExprKind::kLt, ExprKind::kLe, ExprKind::kLe};
  Expr made = context_.binary(kKinds[pick(0, 4)], a, b);
  if (pick(0, 5) == 0) made = logical_not(made);
  if (pick(0, 7) == 0) made = logical_or(made, lt(var(), var()));
  if (made.constant() != nullptr) return;
  assumed_.push_back(made);
  facts_.assume(made);
}

Expr Generator::divided(Expr a, int depth) {
  constexpr ExprKind kKinds[] = {ExprKind::kFloorDiv, ExprKind::kFloorMod, ExprKind::kDiv, ExprKind::kMod};
  ExprKind kind = kKinds[pick(0, 9) < 7 ? pick(0, 1) : pick(2, 3)];
  switch (pick(0, 5)) {
    case 0:
      return context_.binary(kind, a, index(depth - 1));
    case 1:
      return context_.binary(kind, a * var(), var() * pick(1, 3));
    case 2:
      return context_.binary(kind, a, context_.index(-pick(1, 6)));
    case 3: {
      int64_t c = pick(2, 6);
      return context_.binary(kind, a * c + index(depth - 1), context_.index(c * pick(1, 3)));
    }
    case 4: {
      int64_t c = pick(2, 9);
      return ceildiv(a, c) * c;
    }
    default:
      return context_.binary(kind, a, context_.index(pick(1, 9)));
  }
}

/// Into an integer dtype and back, maybe with arithmetic that wraps in between.
Expr Generator::through_element(Expr a, int depth) {
  const DType kTypes[] = {DType::i(64), DType::i(8),  DType::u(8),  DType::i(16),    DType::u(16),
                          DType::i(32), DType::u(32), DType::u(64), DType::boolean()};
  DType dtype = kTypes[pick(0, 8)];
  Expr inner = cast(dtype, a);
  if (!dtype.is_bool() && pick(0, 1) != 0) {
    constexpr ExprKind kKinds[] = {ExprKind::kAdd, ExprKind::kSub, ExprKind::kMul, ExprKind::kMin, ExprKind::kMax};
    inner = context_.binary(kKinds[pick(0, 4)], inner, cast(dtype, index(depth - 1)));
  }
  if (pick(0, 3) == 0) inner = cast(kTypes[pick(0, 7)], inner);
  return cast(DType::index(), inner);
}

Expr Generator::index(int depth) {
  if (depth <= 0 || pick(0, 9) == 0) return pick(0, 3) == 0 ? context_.index(pick(-9, 9)) : var();
  Expr a = index(depth - 1);
  switch (pick(0, 14)) {
    case 0:
    case 1:
    case 2:
      return a + index(depth - 1);
    case 3:
      return a - index(depth - 1);
    case 4:
      return a * index(depth - 1);
    case 5:
    case 6:
      return a * pick(-4, 8) + pick(-3, 3);
    case 7:
      return min(a, index(depth - 1));
    case 8:
      return max(a, index(depth - 1));
    case 9:
      return select(condition(depth - 1), a, index(depth - 1));
    case 10:
      return pick(0, 1) != 0 ? max(min(a, index(depth - 1)), var()) : min(a + var(), a + pick(-3, 3));
    case 11:
      return pick(0, 1) != 0 ? through_element(a, depth) : a;
    default:
      return divided(a, depth);
  }
}

Expr Generator::condition(int depth) {
  constexpr ExprKind kKinds[] = {ExprKind::kEq, ExprKind::kNe, ExprKind::kLt, ExprKind::kLe};
  int64_t kind = pick(0, 7);
  if (depth > 0 && kind == 4) return logical_and(condition(depth - 1), condition(depth - 1));
  if (depth > 0 && kind == 5) return logical_or(condition(depth - 1), condition(depth - 1));
  if (depth > 0 && kind == 6) return logical_not(condition(depth - 1));
  Expr a = index(depth - 1), b = pick(0, 2) == 0 ? a * pick(1, 2) + index(depth - 2) : index(depth - 1);
  return context_.binary(kKinds[kind % 4], a, b);
}

bool Generator::admissible(const std::vector<int64_t>& values) {
  for (size_t k = 0; k < kVars; ++k)
    if ((values[k] - rest_[k]) % factor_[k] != 0) return false;
  for (Oracle& assumed : assumed_values_)
    if (assumed.at(vars_, values) != std::optional<Wide>(1)) return false;
  return true;
}

void Generator::points(const std::function<void(const std::vector<int64_t>&)>& check) {
  int found = 0;
  for (int i = 0; i < 200 && found < 40; ++i) {
    std::vector<int64_t> values;
    for (size_t k = 0; k < kVars; ++k) {
      int64_t value = pick(0, 7) == 0 ? (pick(0, 1) != 0 ? lower_[k] : upper_[k]) : pick(lower_[k], upper_[k]);
      int64_t off = ((value - rest_[k]) % factor_[k] + factor_[k]) % factor_[k];
      values.push_back(value - off >= lower_[k] ? value - off : value - off + factor_[k]);
      if (values.back() > upper_[k]) values.back() = value;
    }
    if (!admissible(values)) continue;
    ++found;
    check(values);
  }
}

}  // namespace relaxc::test
