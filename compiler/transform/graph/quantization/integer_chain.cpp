// integer_chain.cpp: see integer_chain.h.
//
// Sums of non-decreasing functions are non-decreasing, and so are products with constants that are not negative,
// shifts, minima and maxima. The results of such a function on a range are between those at its ends, so that nothing
// wraps in the range if nothing wraps at its ends.
#include "compiler/transform/graph/quantization/integer_chain.h"

#include <algorithm>
#include <cmath>

#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

namespace {

constexpr size_t kMostChainSteps = 32;

bool holds(DType dtype, int64_t value) {
  if (dtype.bits == 64) return dtype.is_int();
  const int64_t low = dtype.is_int() ? -(int64_t{1} << (dtype.bits - 1)) : 0;
  return value >= low && value < low + (int64_t{1} << dtype.bits);
}

}  // namespace

std::optional<IntegerChain> IntegerChain::ending_with(const Op& op) {
  IntegerChain chain;
  if (!op.is("astype") || !chain.step_of_op(op, Kind::kCast, op) || chain.input_ == nullptr) return {};
  chain.range_ = integer_range(chain.input_);
  if (!chain.range_ || !chain.take_axis(chain.range_->low.size(), chain.range_->from_end)) return {};
  for (size_t c = 0; c < chain.channels_; ++c) {
    const int64_t low = chain.range_->low_at(c), high = chain.range_->high_at(c);
    if (!chain.checked(low, c) || !chain.checked(high, c)) return {};
  }
  return chain;
}

Staircase IntegerChain::channel(size_t c) const {
  Staircase f{range_->low_at(c), range_->high_at(c), 0, 0, [this, c](int64_t x) { return at(x, c); }};
  const auto low = static_cast<double>(f.x_low), high = static_cast<double>(f.x_high);
  const double from = line(low, c), to = line(high, c);
  f.slope = high > low ? (to - from) / (high - low) : 0;
  f.intercept = from - f.slope * low;
  return f;
}

size_t IntegerChain::added(Step step) {
  wide_ = wide_ || step.dtype.bits == 64;
  steps_.push_back(std::move(step));
  return steps_.size() - 1;
}

bool IntegerChain::take_axis(size_t count, size_t from_end) {
  if (count == 1) return true;
  if (channels_ == 1) channels_ = count, from_end_ = from_end;
  return count == channels_ && from_end == from_end_;
}

std::optional<size_t> IntegerChain::constant_step(const Value& value) {
  const auto numbers = channel_numbers(&value);
  if (!numbers || !take_axis(numbers->values.size(), numbers->from_end)) return {};
  Step step{Kind::kConstant, value.dtype(), 0, 0, {}};
  for (double number : numbers->values) step.values.push_back(static_cast<int64_t>(number));
  return added(std::move(step));
}

std::optional<size_t> IntegerChain::step_of(Value* value, const Op& last) {
  if (value == nullptr || value->info->as<TensorInfo>() == nullptr || !value->dtype().is_integer()) return {};
  if (steps_.size() > kMostChainSteps) return {};
  if (constant_of(value) != nullptr) return constant_step(*value);
  if (const auto place = places_.find(value); place != places_.end()) return place->second;
  struct Named {
    OpName name;
    Kind kind;
  };
  static constexpr Named kKinds[] = {{"add", Kind::kAdd},         {"multiply", Kind::kMultiply},
                                     {"maximum", Kind::kMaximum}, {"right_shift", Kind::kShiftRight},
                                     {"minimum", Kind::kMinimum}, {"left_shift", Kind::kShiftLeft},
                                     {"astype", Kind::kCast}};
  if (!same_shape(*value, *last.result())) return {};
  for (const auto& [name, kind] : kKinds)
    if (const Op* op = producer_of(value, name)) {
      const auto place = step_of_op(*op, kind, last);
      if (place) places_[value] = *place;
      return place;
    }
  if (value->dtype() != DType::i(32) || (input_ != nullptr && input_ != value)) return {};
  input_ = value;
  return places_[value] = added({Kind::kInput, value->dtype(), 0, 0, {}});
}

std::optional<size_t> IntegerChain::step_of_op(const Op& op, Kind kind, const Op& last) {
  Step step{kind, op.result()->dtype(), 0, 0, {}};
  const auto a = step_of(op.operand(0), last);
  const auto b = a && kind != Kind::kCast ? step_of(op.operand(1), last) : a;
  if (!a || !b) return {};
  step.a = *a, step.b = *b;
  if (steps_[step.a].kind == Kind::kConstant && kind != Kind::kShiftLeft && kind != Kind::kShiftRight)
    std::swap(step.a, step.b);
  if (!operands_fit(step)) return {};
  return added(std::move(step));
}

/// Returns whether the result of the step is non-decreasing where its operands are.
bool IntegerChain::operands_fit(const Step& step) const {
  const Step& second = steps_[step.b];
  if (steps_[step.a].kind == Kind::kConstant) return false;
  if (step.kind == Kind::kAdd || step.kind == Kind::kCast) return true;
  if (second.kind != Kind::kConstant) return false;
  if (step.kind == Kind::kMaximum || step.kind == Kind::kMinimum) return true;
  const int64_t most = step.kind == Kind::kMultiply ? INT64_MAX : std::min<int64_t>(step.dtype.bits, 63) - 1;
  return std::all_of(second.values.begin(), second.values.end(), [&](int64_t n) { return n >= 0 && n <= most; });
}

std::optional<int64_t> IntegerChain::checked(int64_t x, size_t channel) const {
  std::vector<int64_t> results;
  for (const Step& step : steps_) {
    const int64_t a = step.a < results.size() ? results[step.a] : 0, b = step.b < results.size() ? results[step.b] : 0;
    int64_t y = 0;
    bool wraps = false;
    switch (step.kind) {
      case Kind::kInput:
        y = x;
        break;
      case Kind::kConstant:
        y = step.values[step.values.size() == 1 ? 0 : channel];
        break;
      case Kind::kAdd:
        wraps = __builtin_add_overflow(a, b, &y);
        break;
      case Kind::kMultiply:
        wraps = __builtin_mul_overflow(a, b, &y);
        break;
      case Kind::kShiftLeft:
        wraps = __builtin_mul_overflow(a, int64_t{1} << b, &y);
        break;
      case Kind::kShiftRight:
        y = a >> b;
        break;
      case Kind::kMaximum:
        y = std::max(a, b);
        break;
      case Kind::kMinimum:
        y = std::min(a, b);
        break;
      case Kind::kCast:
        y = a;
        break;
    }
    if (wraps || !holds(step.dtype, y)) return {};
    results.push_back(y);
  }
  return results.back();
}

int64_t IntegerChain::at(int64_t x, size_t channel) const {
  const auto y = checked(x, channel);
  RELAXC_CHECK(y.has_value(), "a non-decreasing function wraps between numbers where it does not");
  return *y;
}

double IntegerChain::line(double x, size_t channel) const {
  std::vector<double> results;
  for (const Step& step : steps_) {
    const double a = step.a < results.size() ? results[step.a] : 0, b = step.b < results.size() ? results[step.b] : 0;
    double y = a;  // the value of casts, minima and maxima
    if (step.kind == Kind::kInput) y = x;
    if (step.kind == Kind::kConstant) y = static_cast<double>(step.values[step.values.size() == 1 ? 0 : channel]);
    if (step.kind == Kind::kAdd) y = a + b;
    if (step.kind == Kind::kMultiply) y = a * b;
    if (step.kind == Kind::kShiftLeft) y = a * std::exp2(b);
    if (step.kind == Kind::kShiftRight) y = (a + 0.5) * std::exp2(-b) - 0.5;
    results.push_back(y);
  }
  return results.back();
}

}  // namespace relaxc
