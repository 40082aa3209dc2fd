// fold.cpp: constant folding, shared by building and evaluating expressions.
#include "compiler/arith/fold.h"

#include <algorithm>

#include "compiler/arith/range.h"

namespace relaxc::arith {

std::optional<int64_t> fold(ExprKind kind, int64_t a, int64_t b) {
  using Maybe = std::optional<int64_t>;
  int64_t out = 0;
  bool divides = b != 0 && !(a == INT64_MIN && b == -1);
  switch (kind) {
    case ExprKind::kAdd:
      return __builtin_add_overflow(a, b, &out) ? Maybe() : out;
    case ExprKind::kSub:
      return __builtin_sub_overflow(a, b, &out) ? Maybe() : out;
    case ExprKind::kMul:
      return __builtin_mul_overflow(a, b, &out) ? Maybe() : out;
    case ExprKind::kDiv:
      return divides ? Maybe(a / b) : Maybe();
    case ExprKind::kMod:
      return divides ? Maybe(a % b) : Maybe();
    case ExprKind::kFloorDiv:
      return divides ? Maybe(floor_divide(a, b)) : Maybe();
    case ExprKind::kFloorMod:
      return divides ? Maybe(floor_remainder(a, b)) : Maybe();
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
    case ExprKind::kAnd:
      return a != 0 && b != 0;
    case ExprKind::kOr:
      return a != 0 || b != 0;
    default:
      RELAXC_UNREACHABLE("not a binary kind");
  }
}

}  // namespace relaxc::arith
