// range.cpp: interval arithmetic with INT64_MIN and INT64_MAX as infinities.
//
// A bound that overflows becomes infinite, which is always sound. The bounds of a product are among the products of the
// operands' bounds, where infinity times zero is zero.
#include "compiler/arith/range.h"

#include <algorithm>

namespace relaxc::arith {
namespace {

constexpr int64_t kLow = INT64_MIN, kHigh = INT64_MAX;

bool infinite(int64_t value) {
  return value == kLow || value == kHigh;
}

int64_t end_sum(int64_t a, int64_t b, int64_t infinity) {
  int64_t sum = 0;
  if (a == infinity || b == infinity) return infinity;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? kLow : kHigh;
}

int64_t corner_product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (a == 0 || b == 0) return 0;
  if (!infinite(a) && !infinite(b) && !__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? kHigh : kLow;
}

int64_t corner_quotient(int64_t a, int64_t b) {
  if (infinite(a)) return (a < 0) == (b < 0) ? kHigh : kLow;
  if (infinite(b)) return (a < 0) == (b < 0) || a == 0 ? 0 : -1;
  return floor_divide(a, b);
}

template <typename Corner>
Range corners(Range a, Range b, Corner corner) {
  int64_t values[] = {corner(a.lower, b.lower), corner(a.lower, b.upper), corner(a.upper, b.lower),
                      corner(a.upper, b.upper)};
  return {*std::min_element(values, values + 4), *std::max_element(values, values + 4)};
}

}  // namespace

int64_t floor_divide(int64_t a, int64_t b) {
  if (b == -1) return a == kLow ? kHigh : -a;
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t remainder = a % b;
  return remainder + (remainder != 0 && (remainder < 0) != (b < 0) ? b : 0);
}

Range add(Range a, Range b) {
  return {end_sum(a.lower, b.lower, kLow), end_sum(a.upper, b.upper, kHigh)};
}

Range multiply(Range a, Range b) {
  return corners(a, b, corner_product);
}

Range floor_divide(Range a, Range b) {
  if (b.lower > 0 || b.upper < 0) return corners(a, b, corner_quotient);
  // |a // b| <= |a| for every b but 0, where the value is 0; rounding down adds at most 1 to that.
  if (infinite(a.lower) || infinite(a.upper)) return {};
  int64_t size = std::max({a.lower, -a.lower, a.upper, -a.upper, int64_t{1}});
  return {-size, size};
}

Range truncated_divide(Range a, Range b) {
  Range down = floor_divide(a, b);  // rounding to zero adds at most 1 to negative quotients
  return {down.lower, down.upper < 0 ? down.upper + 1 : down.upper};
}

Range floor_remainder(Range a, Range b) {
  if (b.lower > 0) {
    Range below = {0, b.has_upper() ? b.upper - 1 : kHigh};
    return a.lower >= 0 ? intersect(below, {0, a.upper}) : below;
  }
  if (b.upper < 0) {
    Range above = {b.has_lower() ? b.lower + 1 : kLow, 0};
    return a.upper <= 0 ? intersect(above, {a.lower, 0}) : above;
  }
  return {};
}

Range truncated_remainder(Range a, Range b) {
  Range sign = {a.lower >= 0 ? 0 : a.lower, a.upper <= 0 ? 0 : a.upper};  // it has the sign of a, and is no larger
  if (!b.has_lower() || !b.has_upper()) return sign;
  int64_t size = std::max({-(b.lower + 1), b.upper - 1, int64_t{0}});
  return intersect(sign, {-size, size});
}

Range intersect(Range a, Range b) {
  return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
}
Range hull(Range a, Range b) {
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}
Range smaller(Range a, Range b) {
  return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
}
Range larger(Range a, Range b) {
  return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
}

}  // namespace relaxc::arith
