// arithmetic.cpp: elementwise operators of two tensors that broadcast.
//
// Quantized sums and differences bring both operands to a common, finer scale, add, and rescale the sum. Products
// rescale the product of the stored differences. MAXIMUM and MINIMUM compare stored integers: the scales are equal.
#include <cmath>

#include "frontends/tflite/operators.h"

namespace relaxc::tflite::arithmetic_family {
namespace {

using Activation = Node::Activation;

bool stored_integer(const Node& node) {
  return node.type() == TensorType::INT8 || node.type() == TensorType::UINT8 || node.type() == TensorType::INT16;
}

bool same_types(Node& node) {
  if (node.type(0) == node.type(1)) return true;
  node.error(Kind::dtype_mismatch, "operands of {} and {}", type_name(node.type(0)), type_name(node.type(1)));
  return false;
}

/// Returns a stored operand less its zero point, in int32.
Value* real_steps(Node& node, size_t i) {
  return node.add(node.i32(node.input(i)), static_cast<double>(-node.zero_of(node.in(i))));
}

/// Returns the multiplier for `real`; reports an error if scales are too far apart.
Multiplier checked_multiplier(Node& node, double real) {
  if (real >= 0 && real < 1e9) return multiplier_of(real);
  if (node.ok()) node.error(Kind::invalid_value, "scales of operands and result are {} apart", real);
  return {};
}

/// Returns log2 of a scale that is a power of two within TFLite's tolerance of 0.001, else nothing.
std::optional<int> power_of_two(float scale) {
  double log = std::log(static_cast<double>(scale)) * (1.0 / std::log(2.0));
  double whole = std::round(log);
  return std::abs(log - whole) < 1e-3 ? std::optional(static_cast<int>(whole)) : std::nullopt;
}

/// Both operands in units of (twice the larger scale) / 2^bits.
struct CommonScale {
  Value *a = nullptr, *b = nullptr;
  double twice_largest = 0;
};

CommonScale in_common_scale(Node& node, int bits) {
  float a = node.scale_of(node.in(0)), b = node.scale_of(node.in(1));
  CommonScale common;
  common.twice_largest = static_cast<double>(2 * std::max(a, b));
  auto scaled = [&](size_t i, float scale) {
    Value* shifted = node.multiply(real_steps(node, i), static_cast<double>(1 << bits));
    return node.scale(shifted, checked_multiplier(node, static_cast<double>(scale) / common.twice_largest));
  };
  common.a = scaled(0, a);
  common.b = scaled(1, b);
  return common;
}

Stored result_of(Node& node, Activation activation) {
  return {.dtype = node.stored_type(),
          .zero_point = node.zero_of(node.out()),
          .limits = node.activation_limits(activation, node.out())};
}

/// Adds 16-bit operands whose scales are powers of two: one is shifted, the other has the result's scale.
Status shifted_sum(Node& node, OpName op, Activation activation, int a, int b) {
  if ((a != 0 && b != 0) || a > 0 || b > 0)
    return node.error(Kind::unsupported,
                      "scales that are powers of two must not be larger than the result's, and one "
                      "must be the same");
  auto shifted = [&](size_t i, int shift) { return node.scale(node.i32(node.input(i)), Multiplier{INT32_MAX, shift}); };
  Value* sum = node.call(op, {shifted(0, a), shifted(1, b)});
  if (!node.ok()) return node.status();
  Limits limits = node.activation_limits(activation, node.out());
  return node.set(
      node.as(node.clamp(sum, static_cast<double>(limits.low), static_cast<double>(limits.high)), DType::i(16)));
}

Status quantized_sum(Node& node, OpName op, Activation activation, bool shift_16_bits) {
  int bits = node.type() == TensorType::INT16 ? 15 : 20;
  if (node.type() == TensorType::INT16 && shift_16_bits) {
    auto a = power_of_two(node.scale_of(node.in(0))), b = power_of_two(node.scale_of(node.in(1)));
    auto out = power_of_two(node.scale_of(node.out()));
    if (a && b && out) return shifted_sum(node, op, activation, *a - *out, *b - *out);
  }
  CommonScale common = in_common_scale(node, bits);
  double real = common.twice_largest / static_cast<double>(static_cast<float>(1 << bits) * node.scale_of(node.out()));
  Value* sum = node.call(op, {common.a, common.b});
  return node.set(node.scale(sum, checked_multiplier(node, real), result_of(node, activation)));
}

Status plain(Node& node, OpName op, Activation activation) {
  Value* y = node.call(op, {node.input(0), node.input(1)});
  return node.set(node.activate(y, activation));
}

Status add(Node& node) {
  const auto& o = node.options<tflite_schema::AddOptions>();
  if (!same_types(node)) return node.status();
  if (!stored_integer(node) || !node.quantized()) return plain(node, "add", o.fused_activation_function());
  return quantized_sum(node, "add", o.fused_activation_function(), o.pot_scale_int16());
}

Status subtract(Node& node) {
  const auto& o = node.options<tflite_schema::SubOptions>();
  if (!same_types(node)) return node.status();
  if (!stored_integer(node) || !node.quantized()) return plain(node, "subtract", o.fused_activation_function());
  return quantized_sum(node, "subtract", o.fused_activation_function(), o.pot_scale_int16());
}

Status multiply(Node& node) {
  Activation activation = node.options<tflite_schema::MulOptions>().fused_activation_function();
  if (!same_types(node)) return node.status();
  if (!stored_integer(node) || !node.quantized()) return plain(node, "multiply", activation);
  float scales = node.scale_of(node.in(0)) * node.scale_of(node.in(1)) / node.scale_of(node.out());
  Value* second = real_steps(node, 1);  // before the first, in whatever order arguments are evaluated; so below
  Value* product = node.multiply(real_steps(node, 0), second);
  return node.set(
      node.scale(product, checked_multiplier(node, static_cast<double>(scales)), result_of(node, activation)));
}

Status divide(Node& node) {
  if (!same_types(node)) return node.status();
  return plain(node, "divide", node.options<tflite_schema::DivOptions>().fused_activation_function());
}

Status squared_difference(Node& node) {
  constexpr int kBits = 7;
  if (!same_types(node)) return node.status();
  if (!node.quantized()) {
    Value* second = node.input(1);
    Value* difference = node.subtract(node.input(0), second);
    return node.set(node.multiply(difference, difference));
  }
  CommonScale common = in_common_scale(node, kBits);
  double out = static_cast<double>(static_cast<float>(1 << (2 * kBits)) * node.scale_of(node.out()));
  Value* difference = node.subtract(common.a, common.b);
  Multiplier m = checked_multiplier(node, common.twice_largest * common.twice_largest / out);
  return node.set(node.scale(node.multiply(difference, difference), m, result_of(node, Activation::NONE)));
}

template <const OpName& Op>
Status binary(Node& node) {
  if (!same_types(node)) return node.status();
  return plain(node, Op, Activation::NONE);
}
constexpr OpName kMaximum = "maximum", kMinimum = "minimum", kFloorMod = "floor_mod", kPower = "power",
                 kAtan2 = "atan2", kXor = "bitwise_xor", kRightShift = "right_shift";

Status floor_divide(Node& node) {
  if (!same_types(node)) return node.status();
  if (node.type() != TensorType::FLOAT32) return plain(node, "floor_divide", Activation::NONE);
  Value* divisor = node.input(1);
  return node.set(node.call("floor", {node.divide(node.input(0), divisor)}));
}

Status add_n(Node& node) {
  std::vector<Value*> values = node.all_inputs();
  Value* sum = values[0];
  for (size_t i = 1; i < values.size(); ++i) sum = node.add(sum, values[i]);
  return node.set(sum);
}

constexpr std::string_view kSumRounding = "double, three times; int16 of power-of-two scales: a shift";
constexpr std::string_view kOneScale = "operands and result must have one scale";

constexpr Row kRows[] = {
    {.code = BuiltinOperator::ADD,
     .convert = add,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .rounding = kSumRounding},
    {.code = BuiltinOperator::SUB,
     .convert = subtract,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .rounding = kSumRounding},
    {.code = BuiltinOperator::MUL,
     .convert = multiply,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .rounding = "double"},
    {.code = BuiltinOperator::DIV, .convert = divide, .min_inputs = 2, .max_inputs = 2, .types = kF32 | kI32 | kI64},
    {.code = BuiltinOperator::SQUARED_DIFFERENCE,
     .convert = squared_difference,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kF32 | kI32 | kI8,
     .rounding = "double, three times"},
    {.code = BuiltinOperator::MAXIMUM,
     .convert = binary<kMaximum>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .note = kOneScale},
    {.code = BuiltinOperator::MINIMUM,
     .convert = binary<kMinimum>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .note = kOneScale},
    {.code = BuiltinOperator::FLOOR_DIV,
     .convert = floor_divide,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kF32 | kI32 | kI64 | kI16 | kI8},
    {.code = BuiltinOperator::FLOOR_MOD,
     .convert = binary<kFloorMod>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kF32 | kI32 | kI64 | kI16 | kI8},
    {.code = BuiltinOperator::POW, .convert = binary<kPower>, .min_inputs = 2, .max_inputs = 2, .types = kF32 | kI32},
    {.code = BuiltinOperator::ATAN2, .convert = binary<kAtan2>, .min_inputs = 2, .max_inputs = 2, .types = kF32},
    {.code = BuiltinOperator::BITWISE_XOR, .convert = binary<kXor>, .min_inputs = 2, .max_inputs = 2},
    {.code = BuiltinOperator::RIGHT_SHIFT,
     .convert = binary<kRightShift>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kI8 | kU8 | kI16 | kI32},
    {.code = BuiltinOperator::ADD_N, .convert = add_n, .min_inputs = 1, .max_inputs = kMany, .types = kF32 | kI32},
};

}  // namespace
}  // namespace relaxc::tflite::arithmetic_family

RELAXC_TFLITE_OPERATORS(arithmetic, kRows)
