// fixed_point.cpp: see fixed_point.h. Multipliers are nearly always known at compile time, so what depends only on them
// is computed here: shifts by 0 are left out, and multipliers that are all equal become one scalar.
#include "frontends/tflite/fixed_point.h"

#include <algorithm>
#include <cmath>

namespace relaxc::tflite {

namespace {

bool all(const std::vector<int64_t>& list, int64_t is) {
  return std::all_of(list.begin(), list.end(), [is](int64_t one) { return one == is; });
}

}  // namespace

Value* FixedPoint::right(Value* x, int64_t by) {
  return by == 0 ? x : f_.call("right_shift", {x, f_.like(x, static_cast<double>(by))});
}

Value* FixedPoint::left_saturated(Value* x, int64_t by) {
  Value* wide = f_.multiply(f_.as(x, DType::i(64)), static_cast<double>(int64_t{1} << by));
  return f_.i32(f_.clamp(wide, INT32_MIN, INT32_MAX));
}

/// Returns a scalar if all values are the same, else a vector along the last axis.
Value* FixedPoint::numbers(DType dtype, const std::vector<int64_t>& values) {
  bool same = std::all_of(values.begin(), values.end(), [&](int64_t value) { return value == values[0]; });
  return same ? f_.number(dtype, static_cast<double>(values.at(0))) : f_.list(dtype, values);
}

Value* FixedPoint::times(Value* a, Value* b) {
  DType i64 = DType::i(64);
  b = f_.as(b, i64);
  Value* product = f_.multiply(f_.as(a, i64), b);
  return f_.i32(right(f_.add(product, static_cast<double>(1 << 30)), 31));
}

Value* FixedPoint::halved(Value* x, Value* by, Value* mask, Value* half_mask) {
  Value* rest = f_.call("bitwise_and", {x, mask});
  Value* most = f_.subtract(half_mask, right(x, 31));  // for negative x, the threshold is one higher
  Value* up = f_.i32(f_.call("less", {most, rest}));
  return f_.add(f_.call("right_shift", {x, by}), up);
}

Value* FixedPoint::halved(Value* x, std::vector<int64_t> by, Negatives negatives) {
  DType i32 = DType::i(32);
  if (std::any_of(by.begin(), by.end(), [](int64_t one) { return one == 0; })) {
    std::vector<int64_t> masks, half_masks;
    for (int64_t one : by) masks.push_back((int64_t{1} << one) - 1), half_masks.push_back(masks.back() >> 1);
    Value *half_mask = numbers(i32, half_masks), *mask = numbers(i32, masks);
    return halved(x, numbers(i32, by), mask, half_mask);
  }
  if (negatives == Negatives::kMatter) x = f_.add(x, right(x, 31));
  for (int64_t& one : by) --one;
  if (!all(by, 0)) x = f_.call("right_shift", {x, numbers(i32, by)});
  return right(f_.add(x, 1), 1);
}

Value* FixedPoint::scale(Value* x, const std::vector<Multiplier>& m, Negatives negatives) {
  std::vector<int64_t> mantissas, lefts, rights;
  for (const Multiplier& one : m) {
    mantissas.push_back(one.mantissa);
    lefts.push_back(int64_t{1} << std::clamp(one.shift, 0, 30));
    rights.push_back(std::clamp(-one.shift, 0, 31));
  }
  if (!all(lefts, 1)) x = f_.multiply(x, numbers(DType::i(32), lefts));
  Value* high = times(x, numbers(DType::i(64), mantissas));
  return all(rights, 0) ? high : halved(high, rights, negatives);
}

Value* FixedPoint::scale_reduced(Value* x, const std::vector<Multiplier>& m) {
  std::vector<int64_t> mantissas, halves, shifts;
  for (const Multiplier& one : m) {
    bool largest = one.mantissa >= 0x7FFF0000;
    mantissas.push_back(largest ? 0x7FFF : (int64_t{one.mantissa} + (1 << 15)) >> 16);
    shifts.push_back(15 - std::clamp(one.shift, -31, 14));
    halves.push_back(int64_t{1} << (shifts.back() - 1));
  }
  DType i64 = DType::i(64);
  Value* product = f_.multiply(f_.as(x, i64), numbers(i64, mantissas));
  return f_.i32(f_.call("right_shift", {f_.add(product, numbers(i64, halves)), numbers(i64, shifts)}));
}

Value* FixedPoint::scale_whole(Value* x, const std::vector<double>& m) {
  if (x == nullptr) return nullptr;
  if (x->dtype() == DType::i(64)) return scale_whole_in_float(x, m);
  // Multiplies x by the upper 22 and the lower 31 bits; the bits of the low product below bit 31 cannot change the
  // rounded result. Negative numbers get one less, so that ties, which are rounded up, go away from zero.
  std::vector<int64_t> upper, lower, shifts, halves;
  for (double real : m) {
    int exponent = 0;
    auto bits = static_cast<int64_t>(std::ldexp(std::frexp(real, &exponent), 53));
    int shift = 22 - exponent;
    if (shift > 62) bits = 0, shift = 1;
    upper.push_back(bits >> 31);
    lower.push_back(bits & INT32_MAX);
    shifts.push_back(std::max(shift, 1));
    halves.push_back(int64_t{1} << (shifts.back() - 1));
  }
  DType i64 = DType::i(64);
  Value *wide = f_.as(x, i64), *below = f_.as(right(x, 31), i64);
  Value* high = f_.multiply(wide, numbers(i64, upper));
  Value* low = right(f_.add(f_.multiply(wide, numbers(i64, lower)), below), 31);
  Value* sum = f_.add(f_.add(high, low), numbers(i64, halves));
  return f_.i32(f_.call("right_shift", {sum, numbers(i64, shifts)}));
}

Value* FixedPoint::scale_whole_in_float(Value* x, const std::vector<double>& m) {
  DType f64 = DType::f(64);
  bool same = std::all_of(m.begin(), m.end(), [&](double real) { return real == m[0]; });
  Value* product = f_.multiply(f_.as(x, f64), same ? f_.number(f64, m.at(0)) : f_.reals64(m));
  Value* whole = f_.call("trunc", {product});
  Value* rest = f_.call("abs", {f_.subtract(product, whole)});
  // Operands are made one by one, here and below, since C++ leaves open which argument of a call is evaluated first.
  Value *sign = f_.call("sign", {product}), *none = f_.like(product, 0);
  Value* step = f_.where(f_.call("less", {rest, f_.like(rest, 0.5)}), none, sign);
  return f_.i32(f_.add(whole, step));
}

Value* FixedPoint::scale(Value* x, Value* mantissa, Value* shift) {
  Value* zero = f_.like(shift, 0);
  x = f_.call("left_shift", {x, f_.maximum(shift, zero)});
  Value* by = f_.maximum(f_.subtract(zero, shift), zero);
  Value* power = f_.call("left_shift", {f_.number(DType::i(64), 1), by});
  Value* mask = f_.i32(f_.add(power, -1));
  Value* half = right(mask, 1);
  return halved(times(x, mantissa), by, mask, half);
}

Value* FixedPoint::leading_zeros(Value* x) {
  Value *rest = f_.as(x, DType::i(64)), *count = f_.like(x, 0);
  for (int64_t by : {16, 8, 4, 2, 1}) {
    Value* small = f_.call("less", {rest, f_.like(rest, static_cast<double>(int64_t{1} << (32 - by)))});
    rest = f_.where(small, f_.multiply(rest, static_cast<double>(1 << by)), rest);
    Value* none = f_.like(count, 0);
    count = f_.add(count, f_.where(small, f_.like(count, static_cast<double>(by)), none));
  }
  return count;
}

/// Takes three steps of Newton's method in 29 fractional bits, from 48/17 - 32/17 * d, where d = (1 + x) / 2.
Value* FixedPoint::reciprocal(Value* x) {
  constexpr int32_t k48Over17 = 1515870810, kMinus32Over17 = -1010580540;
  Value* sum = f_.add(f_.as(x, DType::i(64)), static_cast<double>(int64_t{INT32_MAX} + 1));
  Value* half = f_.i32(right(sum, 1));
  Value* guess = f_.add(times(half, kMinus32Over17), k48Over17);
  for (int round = 0; round < 3; ++round) {
    Value* product = times(half, guess);
    Value* error = f_.subtract(f_.like(x, 1 << 29), product);
    guess = f_.add(guess, left_saturated(times(guess, error), 2));
  }
  return left_saturated(guess, 1);
}

std::pair<Value*, Value*> FixedPoint::inverse_root(Value* x) {
  Value* large = f_.call("greater_equal", {x, f_.like(x, 1 << 29)});
  Value* small = f_.call("less_equal", {x, f_.like(x, 1)});
  Value* at_least_one = f_.maximum(x, f_.like(x, 1));
  Value* scaled = f_.where(large, right(x, 2), at_least_one);
  Value* pairs = f_.add(right(f_.add(leading_zeros(scaled), -1), 1), -1);
  Value* eleven = f_.like(x, 11);
  Value* shift = f_.subtract(f_.where(large, f_.like(x, 12), eleven), pairs);
  Value* half = right(f_.call("left_shift", {scaled, f_.multiply(pairs, 2)}), 1);
  half = right(f_.add(half, 1), 1);
  Value* root = f_.like(x, 1 << 28);
  for (int round = 0; round < 5; ++round) {
    Value* cube = left_saturated(times(times(root, root), root), 6);
    Value* product = times(half, cube);
    root = left_saturated(f_.subtract(times(root, (1 << 28) + (1 << 27)), product), 3);
  }
  root = times(root, 1518500250);  // sqrt(1/2)
  Value* zero = f_.like(shift, 0);
  root = f_.call("left_shift", {root, f_.maximum(f_.subtract(zero, shift), zero)});
  shift = f_.subtract(zero, f_.maximum(shift, zero));
  return {f_.where(small, f_.like(root, INT32_MAX), root), f_.where(small, zero, shift)};
}

}  // namespace relaxc::tflite
