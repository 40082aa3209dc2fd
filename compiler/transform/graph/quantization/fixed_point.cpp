// fixed_point.cpp: quantizations of sums, of sums of two tensors and of means, as multiplications and shifts.
//
// A requantization of an int32 sum is a non-decreasing function of it, so multiply_shift.h finds the form and says
// whether it is the same function. Constants that are added before it become part of its addend. The sum of two
// dequantized bytes has 65,536 pairs of values, and pair_line.h finds a line for all of them. A mean of stored values
// is a function of their sum.
#include "compiler/transform/graph/quantization/fixed_point.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/quantization/integer_range.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/quantization/requantization.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

namespace {

/// How `requantize` and `quantize` store a float: zero point, range and dtype.
struct Storing {
  int64_t zero = 0, low = 0, high = 0;
  DType dtype = DType::u(8);

  int64_t stored(float value) const {
    if (std::isnan(value)) return std::clamp(zero, low, high);
    const float least = static_cast<float>(low - zero), most = static_cast<float>(high - zero);
    return static_cast<int64_t>(std::nearbyint(std::clamp(value, least, most))) + zero;
  }
};

Storing storing_of(const Op& op) {
  Storing out;
  out.dtype = op.result()->dtype();
  if (op.is("requantize")) {
    out.zero = op.attrs.integer("zero_point");
    out.low = op.attrs.integer("low"), out.high = op.attrs.integer("high");
  } else {
    out.low = out.dtype.is_int() ? -(int64_t{1} << (out.dtype.bits - 1)) : 0;
    out.high = out.low + (int64_t{1} << out.dtype.bits) - 1;
  }
  return out;
}

/// Checks that lists of numbers lie along one axis; a list of one number fits any axis.
class CommonAxis {
 public:
  bool take(size_t count, size_t from_end) {
    if (count == 1) return true;
    if (count_ == 1) count_ = count, from_end_ = from_end;
    return count == count_ && from_end == from_end_;
  }
  size_t count() const { return count_; }
  size_t from_end() const { return from_end_; }

 private:
  size_t count_ = 1, from_end_ = 0;
};

/// A value without the constants that are added to it; after a product these are part of the form's addend.
struct Shifted {
  Value* x = nullptr;
  ChannelNumbers addend{{0}, 0};
};
Shifted without_addend(Value* x) {
  const Op* sum = producer_of(x, "add");
  if (sum == nullptr || !x->has_one_use()) return {x, {{0}, 0}};
  for (size_t i : {0, 1})
    if (auto numbers = channel_numbers(sum->operand(i)); numbers && same_shape(*sum->operand(1 - i), *x))
      return {sum->operand(1 - i), *numbers};
  return {x, {{0}, 0}};
}

/// Returns the requantization of an int32 tensor with a line for the channels where that is exact, and the bits of
/// float32 for the others (ops/requantize.cpp); null if that would be more than a few channels.
Result<Value*> in_fixed_point_by_channel(GraphBuilder& b, const Op& op, const std::vector<Staircase>& channels,
                                         size_t from_end) {
  constexpr int64_t kLeastExact = 4;      // for each other one, which takes a branch
  constexpr int64_t kMostEven = 1 << 30;  // doubled, a multiplier is still an int32
  const Storing storing = storing_of(op);
  auto found = multiply_shift_of(channels, storing.low, storing.high, Multiplication::kHigh, Shifts::kCommon);
  if (!found || found->ties != Ties::kAnywhere) return nullptr;
  MultiplyShift& form = *found;
  const int64_t exact = std::count(form.exact_channels.begin(), form.exact_channels.end(), true);
  const auto others = static_cast<int64_t>(form.exact_channels.size()) - exact;
  const int64_t left = 32 - form.product_shift;
  if (exact < kLeastExact * others || form.product_half != 0 || left < 1 || left > 31) return nullptr;
  const auto multiplier = channel_numbers(op.operand(1)), addend = channel_numbers(op.operand(2));
  const auto bits = [](double number) { return std::bit_cast<int32_t>(static_cast<float>(number)); };
  for (size_t c = 0; c < form.exact_channels.size(); ++c) {
    if (form.multipliers[c] >= kMostEven || multiplier->at(c) >= 2) return nullptr;
    form.multipliers[c] = 2 * (form.exact_channels[c] ? form.multipliers[c] : bits(multiplier->at(c)));
    if (form.exact_channels[c]) continue;
    form.multipliers[c] += 1;
    form.addends[c] = bits(addend->at(c));
  }
  Attrs attrs = op.attrs;
  attrs.set("left", left - 1);
  attrs.set("right", int64_t{form.right});
  const IntegerSteps steps(b);
  Value *multipliers = steps.numbers(form.multipliers, from_end), *addends = steps.numbers(form.addends, from_end);
  return b.call("requantize", {op.operand(0), multipliers, addends}, std::move(attrs));
}

/// Returns a requantization of an int32 tensor in fixed point; null if there is no such form.
Result<Value*> sum_in_fixed_point(GraphBuilder& b, const Op& op, const FixedPointRules& rules) {
  if (op.attrs.integer("right") > 0) return nullptr;
  const auto multiplier = channel_numbers(op.operand(1)), addend = channel_numbers(op.operand(2));
  if (!multiplier || !addend) return nullptr;
  const Shifted shifted = without_addend(op.operand(0));
  auto range = integer_range(shifted.x);
  CommonAxis axis;
  bool one_axis = range && axis.take(multiplier->values.size(), multiplier->from_end) &&
                  axis.take(addend->values.size(), addend->from_end) &&
                  axis.take(shifted.addend.values.size(), shifted.addend.from_end) &&
                  axis.take(range->low.size(), range->from_end);
  if (!one_axis) return nullptr;
  const Storing storing = storing_of(op);
  std::vector<Staircase> channels;
  for (size_t c = 0; c < axis.count(); ++c) {
    const auto m = static_cast<float>(multiplier->at(c)), a = static_cast<float>(addend->at(c));
    const auto offset = static_cast<int64_t>(shifted.addend.at(c));
    if (!(m >= 0) || !std::isfinite(m) || !std::isfinite(a)) return nullptr;
    Staircase f{range->low_at(c), range->high_at(c), m, 0, {}};
    f.intercept = static_cast<double>(m) * static_cast<double>(offset) + a + static_cast<double>(storing.zero);
    f.at = [=](int64_t x) {
      const float product = static_cast<float>(static_cast<int32_t>(x + offset)) * m;
      return storing.stored(product + a);
    };
    channels.push_back(std::move(f));
  }
  const auto form = multiply_shift_of(channels, storing.low, storing.high, rules.multiplication);
  if (!form) return nullptr;
  if (!form->exact && rules.floats == FloatCost::kCheap) {
    const bool may = rules.by_channel && rules.multiplication == Multiplication::kHigh && shifted.x == op.operand(0);
    return may ? in_fixed_point_by_channel(b, op, channels, axis.from_end()) : nullptr;
  }
  const IntegerSteps steps(b);
  Value* y = steps.apply(*form, shifted.x, bits_of(channels), axis.from_end(), rules.multiplication);
  return steps.stored(y, storing.low, storing.high, storing.dtype);
}

/// A tensor of bytes that is dequantized by one scale.
struct Bytes {
  Value* stored = nullptr;
  float scale = 1;
  int64_t zero = 0, low = 0, high = 255;

  float real(int64_t value) const { return static_cast<float>(value - zero) * scale; }
};
std::optional<Bytes> bytes_of(const Value* value) {
  const Op* op = producer_of(value, "dequantize");
  const auto known = op != nullptr ? quantization_parameters(*op) : std::nullopt;
  if (!known || op->result()->dtype() != DType::f(32) || op->operand(0)->dtype().bits != 8) return {};
  const auto range = integer_range(op->operand(0));
  if (!range || !range->is_single() || !(known->first > 0)) return {};
  return Bytes{op->operand(0), static_cast<float>(known->first), known->second, range->low[0], range->high[0]};
}

/// How the result of a chain of float operators that ends with `op` is stored: multiplied, or divided by a scale.
struct Requantize {
  Storing storing;
  float multiplier = 1, addend = 0, divisor = 1;

  int64_t stored(float value) const {
    const float product = value * multiplier;
    return storing.stored((product + addend) / divisor);
  }
  double slope() const { return static_cast<double>(multiplier) / divisor; }
};
std::optional<Requantize> requantize_of(const Op& op) {
  Requantize out;
  out.storing = storing_of(op);
  if (op.is("requantize")) {
    const auto multiplier = channel_numbers(op.operand(1)), addend = channel_numbers(op.operand(2));
    if (!multiplier || !addend || multiplier->values.size() != 1 || addend->values.size() != 1) return {};
    out.multiplier = static_cast<float>(multiplier->values[0]), out.addend = static_cast<float>(addend->values[0]);
    return out;
  }
  const auto known = quantization_parameters(op);
  if (!known) return {};
  out.divisor = static_cast<float>(known->first), out.storing.zero = known->second;
  return out;
}

/// A quantization of the sum of two dequantized tensors of bytes.
Result<Value*> sum_of_two_in_fixed_point(GraphBuilder& b, const Bytes& left, const Bytes& right,
                                         const Requantize& requantize, const FixedPointRules& rules) {
  const Storing& storing = requantize.storing;
  PairFunction f{left.low, left.high, right.low, right.high, storing.low, storing.high, 1, 1, 0, {}};
  f.a_slope = requantize.slope() * left.scale, f.b_slope = requantize.slope() * right.scale;
  f.intercept = requantize.addend / requantize.divisor + static_cast<double>(storing.zero) -
                f.a_slope * static_cast<double>(left.zero) - f.b_slope * static_cast<double>(right.zero);
  f.at = [&](int64_t x, int64_t y) { return requantize.stored(left.real(x) + right.real(y)); };
  const auto line = pair_line_of(f);
  if (!line || (!line->exact && rules.floats == FloatCost::kCheap)) return nullptr;
  return IntegerSteps(b).line(*line, left.stored, right.stored, storing.low, storing.high, storing.dtype);
}

/// Returns in fixed point a quantization of a sum of stored values, divided or multiplied by a number (a mean).
Result<Value*> mean_in_fixed_point(GraphBuilder& b, const Op& op, const Requantize& requantize,
                                   const FixedPointRules& rules) {
  const Op* scaled = op.operand(0)->op;
  const bool divides = producer_of(op.operand(0), "divide") != nullptr;
  if (!divides && producer_of(op.operand(0), "multiply") == nullptr) return nullptr;
  const auto count = uniform_value(scaled->operand(1));
  const Op* sum = producer_of(scaled->operand(0), "sum");
  const auto bytes = sum != nullptr ? bytes_of(sum->operand(0)) : std::nullopt;
  if (!count || !is_single(*scaled->operand(1)) || !(*count > 0) || !bytes || bytes->scale != 1) return nullptr;
  const IntegerSteps steps(b);
  RELAXC_TRY(Value * x, b.call("sum", {steps.cast(bytes->stored, DType::i(32))}, sum->attrs));
  const auto range = integer_range(x);
  const auto stored_range = integer_range(bytes->stored);
  if (!range || !stored_range || stored_range->high[0] == 0) return nullptr;
  const int64_t terms = range->high[0] / stored_range->high[0], zeros = terms * bytes->zero;
  if (range->high[0] - zeros >= 1 << 24 || zeros - range->low[0] >= 1 << 24) return nullptr;  // float32 is not exact
  const auto number = static_cast<float>(*count);
  Staircase f{range->low[0], range->high[0], 1, 0, {}};
  f.slope = requantize.slope() * (divides ? 1 / static_cast<double>(number) : static_cast<double>(number));
  f.intercept = static_cast<double>(requantize.storing.zero) - f.slope * static_cast<double>(zeros) +
                requantize.addend / requantize.divisor;
  f.at = [=](int64_t total) {
    const auto whole = static_cast<float>(total - zeros);
    return requantize.stored(divides ? whole / number : whole * number);
  };
  const Storing& storing = requantize.storing;
  const auto form = multiply_shift_of({f}, storing.low, storing.high, rules.multiplication);
  if (!form || (!form->exact && rules.floats == FloatCost::kCheap)) return nullptr;
  Value* y = steps.apply(*form, x, bits_of({f}), 0, rules.multiplication);
  return steps.stored(y, storing.low, storing.high, storing.dtype);
}

}  // namespace

Result<Value*> in_fixed_point(GraphBuilder& b, const Op& op, const FixedPointRules& rules) {
  if (!op.is("requantize") && !op.is("quantize")) return nullptr;
  if (op.is("requantize") && op.operand(0)->dtype() == DType::i(32)) return sum_in_fixed_point(b, op, rules);
  if (op.operand(0)->dtype() != DType::f(32)) return nullptr;
  const auto requantize = requantize_of(op);
  if (!requantize || !(requantize->slope() > 0) || !std::isfinite(requantize->slope())) return nullptr;
  if (const Op* sum = producer_of(op.operand(0), "add")) {
    const auto a_bytes = bytes_of(sum->operand(0)), b_bytes = bytes_of(sum->operand(1));
    if (a_bytes && b_bytes && same_shape(*sum->operand(0), *sum->operand(1)))
      return sum_of_two_in_fixed_point(b, *a_bytes, *b_bytes, *requantize, rules);
    return nullptr;
  }
  return mean_in_fixed_point(b, op, *requantize, rules);
}

}  // namespace relaxc
