// integer_steps.cpp: builds forms of multiply_shift.h as operators on tensors, which fusion adds to the kernel before.
#include <algorithm>
#include <cstring>

#include "compiler/transform/graph/quantization/fixed_point.h"

namespace relaxc {

using namespace relax;

namespace {

Value* built(Result<Value*> made) {
  RELAXC_CHECK(static_cast<bool>(made), "an operator on integers whose operands fit");
  return *made;
}

}  // namespace

Value* IntegerSteps::numbers(const std::vector<int64_t>& values, size_t from_end) const {
  if (std::all_of(values.begin(), values.end(), [&](int64_t value) { return value == values[0]; }))
    return number(static_cast<double>(values[0]));
  std::vector<std::byte> bytes(values.size() * sizeof(int32_t));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<int32_t>(values[i]);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  std::vector<int64_t> shape(from_end + 1, 1);
  shape[0] = static_cast<int64_t>(values.size());
  return b_.constant(ConstantData::inline_bytes(DType::i(32), std::move(shape), std::move(bytes)));
}

Value* IntegerSteps::cast(Value* x, DType dtype) const {
  return x->dtype() == dtype ? x : built(b_.call("astype", {x}, {{"dtype", dtype}}));
}

Value* IntegerSteps::call(OpName op, Value* x, Value* y) const {
  return built(b_.call(op, {x, y}));
}

Value* IntegerSteps::stored(Value* x, int64_t low, int64_t high, DType dtype) const {
  x = call("maximum", x, static_cast<double>(low));
  x = call("minimum", x, static_cast<double>(high));
  return cast(x, dtype);
}

Value* IntegerSteps::line(const PairLine& line, Value* a, Value* b, int64_t low, int64_t high, DType dtype) const {
  const auto times = [&](Value* bytes, int64_t multiplier) {
    return call("multiply", cast(bytes, DType::i(32)), static_cast<double>(multiplier));
  };
  Value* second = times(b, line.b_multiplier);
  Value* sum = call("add", times(a, line.a_multiplier), second);
  sum = call("add", sum, static_cast<double>(line.addend));
  return stored(call("right_shift", sum, line.right), low, high, dtype);
}

Value* IntegerSteps::product_in_parts(const MultiplyShift& form, Value* x, int bits, size_t from_end) const {
  const int part = 31 - bits, below = form.product_shift > part ? form.product_shift / 2 : 0;
  const int above = form.product_shift - below;
  std::vector<int64_t> tops, packed, lows;
  int64_t most = 0;
  for (int64_t m : form.multipliers) {
    tops.push_back(m >> form.product_shift);
    packed.push_back(m >> below & ((int64_t{1} << above) - 1));
    lows.push_back(m & ((int64_t{1} << below) - 1));
    most = std::max(most, tops.back());
  }
  // Two parts in the halves of one constant take one load; parts that all channels share are in the code.
  const int64_t first = form.multipliers[0];
  const bool differ =
      std::any_of(form.multipliers.begin(), form.multipliers.end(), [&](int64_t m) { return m != first; });
  Value *top = nullptr, *middle = nullptr;
  if (differ && most < (1 << 15) && above <= 16) {
    for (size_t i = 0; i < tops.size(); ++i) packed[i] |= tops[i] << 16;
    Value* both = numbers(packed, from_end);
    top = call("right_shift", both, 16);
    middle = call("bitwise_and", both, 65535);
  } else {
    top = numbers(tops, from_end), middle = numbers(packed, from_end);
  }
  Value* rest = call("multiply", x, middle);
  if (below > 0) rest = call("add", rest, call("right_shift", call("multiply", x, numbers(lows, from_end)), below));
  if (above > 0) rest = call("right_shift", rest, above);
  return most == 0 ? rest : call("add", call("multiply", x, top), rest);
}

Value* IntegerSteps::product(const MultiplyShift& form, Value* x, int bits, size_t from_end, Multiplication how) const {
  if (how == Multiplication::kParts) return product_in_parts(form, x, bits, from_end);
  const DType i64 = DType::i(64);
  const int left = 32 - form.product_shift;
  if (left > 0) x = call("left_shift", x, left);
  Value* factors = cast(numbers(form.multipliers, from_end), i64);
  Value* wide = call("multiply", cast(x, i64), factors);
  if (how == Multiplication::kRoundedHigh) wide = call("add", wide, static_cast<double>(int64_t{1} << 31));
  return cast(call("right_shift", wide, 32), DType::i(32));
}

Value* IntegerSteps::shifted(const MultiplyShift& form, Value* sum, size_t from_end) const {
  std::vector<int64_t> addends = form.addends;
  const bool decides = form.ties != Ties::kAnywhere;
  if (decides)
    for (int64_t& addend : addends) addend -= form.below_half();
  const bool none = std::all_of(addends.begin(), addends.end(), [](int64_t addend) { return addend == 0; });
  if (!none) sum = call("add", sum, numbers(addends, from_end));
  if (decides) {
    Value* odd = call("bitwise_and", call("right_shift", sum, form.right), 1);
    const bool to_even = form.ties == Ties::kToEven;
    sum = call("add", sum, static_cast<double>(form.below_half() + (to_even ? 0 : 1)));
    sum = call(to_even ? OpName("add") : OpName("subtract"), sum, odd);
  }
  return call("right_shift", sum, form.right);
}

Value* IntegerSteps::apply(const MultiplyShift& form, Value* x, int bits, size_t from_end, Multiplication how) const {
  return shifted(form, product(form, x, bits, from_end, how), from_end);
}

}  // namespace relaxc
