// unary.cpp: operators of one operand, element by element.
//
// A function of a byte has 256 results, so it becomes a table, which is computed here as TFLite computes it: in float32
// where its kernels use such tables, else in their fixed-point arithmetic. Functions of 16 bits are interpolated
// between 513 entries, or are emitted as fixed-point arithmetic.
#include <cmath>
#include <functional>
#include <limits>

#include "frontends/tflite/operators.h"

namespace relaxc::tflite::unary_family {
namespace {

using Function = std::function<float(float)>;

bool is_byte(const Node& node) {
  return node.type() == TensorType::INT8 || node.type() == TensorType::UINT8;
}

/// Applies a function to stored integers by a table that TFLite computes in float32.
Status float_table(Node& node, const Function& function) {
  Value* x = node.input(0);
  DType dtype = node.stored_type();
  if (!node.ok()) return node.status();
  float in = node.scale_of(node.in(0)), out = node.scale_of(node.out());
  int64_t in_zero = node.zero_of(node.in(0)), out_zero = node.zero_of(node.out());
  if (!node.ok()) return node.status();
  if (node.type() == TensorType::INT16) {
    std::vector<int16_t> table =
        table_of_16_bits<float>(in, static_cast<int32_t>(in_zero), out, static_cast<int32_t>(out_zero), function);
    return node.set(node.as(node.interpolate(node.i32(x), table), DType::i(16)));
  }
  return node.set(node.look_up(x, table_of_bytes(x->dtype(), in, in_zero, dtype, out, out_zero, function), dtype));
}

/// Applies a function to stored bytes by a table: function(stored - zero_point), plus the result's zero point, clamped
/// to the result's range.
Status integer_table(Node& node, const std::function<int64_t(int32_t)>& function) {
  Value* x = node.input(0);
  if (!node.ok()) return node.status();
  Limits from = limits_of(x->dtype()), to = limits_of(node.stored_type());
  int64_t in_zero = node.zero_of(node.in(0)), out_zero = node.zero_of(node.out());
  Ints table;
  for (int64_t stored = from.low; stored <= from.high; ++stored)
    table.push_back(std::clamp(function(static_cast<int32_t>(stored - in_zero)) + out_zero, to.low, to.high));
  return node.set(node.look_up(x, table, node.stored_type()));
}

template <const OpName& Op>
Status plain(Node& node) {
  return node.set(node.call(Op, {node.input(0)}));
}
constexpr OpName kSin = "sin", kCos = "cos", kFloor = "floor", kCeil = "ceil", kRound = "round", kNegative = "negative",
                 kSquare = "square", kNot = "logical_not", kSign = "sign";

Status log(Node& node) {
  if (!node.quantized()) return node.set(node.call("log", {node.input(0)}));
  float lowest =
      static_cast<float>(limits_of(node.stored_type()).low - node.zero_of(node.out())) * node.scale_of(node.out());
  return float_table(node, [lowest](float v) { return v <= 0 ? lowest : std::log(v); });
}

Status exp(Node& node) {
  if (!node.quantized()) return node.set(node.call("exp", {node.input(0)}));
  return float_table(node, [](float v) { return std::exp(v); });
}

Status elu(Node& node) {
  if (!node.quantized()) return node.set(node.call("nn.elu", {node.input(0)}));
  return float_table(node, [](float v) { return v < 0 ? std::expm1(v) : v; });
}

Status gelu(Node& node) {
  bool approximate = node.options<tflite_schema::GeluOptions>().approximate();
  if (!node.quantized())
    return node.set(
        node.call("nn.gelu", {node.input(0)}, {{"approximate", std::string(approximate ? "tanh" : "none")}}));
  constexpr float kRootOfHalf = 0.70710678118654752440F, kRootOfTwoOverPi = 0.7978845608028654F;
  if (approximate)
    return float_table(
        node, [](float v) { return 0.5F * v * (1.0F + std::tanh(kRootOfTwoOverPi * (v + 0.044715F * v * v * v))); });
  return float_table(node, [](float v) { return v * (0.5F * std::erfc(-v * kRootOfHalf)); });
}

/// Returns sigmoid(i / 24) with 16 fractional bits, which TFLite's 16-bit kernels interpolate. An entry is moved by
/// half of the interpolation error in the middle of its interval; the last entry is 1.
Ints sigmoid_table() {
  auto sigmoid = [](double i) { return 65536.0 / (1.0 + std::exp(-i / 24.0)); };
  Ints table;
  for (int i = 0; i < 255; ++i) {
    double off = (sigmoid(i) + sigmoid(i + 1)) / 2 - sigmoid(i + 0.5);
    table.push_back(static_cast<int64_t>(std::floor(sigmoid(i) - off / 2 + 0.5)));
  }
  table.push_back(65535);
  return table;
}

/// Brings 16-bit operands of sigmoid and tanh to units of 1 / (3 * 4096): x * multiplier >> shift.
struct ToTable {
  int32_t multiplier = 0, shift = 0;
};

ToTable to_table(Node& node, int most_shift) {
  float scale = node.scale_of(node.in(0));
  double log = std::log(static_cast<double>(scale)) * (1.0 / std::log(2.0)), whole = std::round(log);
  int left = 12 + static_cast<int>(whole);
  if (std::abs(log - whole) < 1e-3 && left >= 0 && left <= most_shift) return {3 << left, 0};
  ToTable found;
  double multiplier = static_cast<double>(scale) * 4096.0 * 3.0;
  while (multiplier <= 32767.0 / 2.0 && found.shift <= 30) ++found.shift, multiplier *= 2;
  if (multiplier > 32767.0) node.error(Kind::invalid_value, "a scale of {} is too large for 16 bits", scale);
  found.multiplier = node.ok() ? static_cast<int32_t>(multiplier) : 0;
  return found;
}

/// x in the table's units, and the table interpolated at |x| with `bits` fractional bits, `beyond` past its end.
struct TableResult {
  Value *steps = nullptr, *result = nullptr;
};

TableResult from_table(Node& node, const ToTable& to, int bits, double beyond) {
  Value* x = node.multiply(node.i32(node.input(0)), to.multiplier);
  if (to.shift > 0)
    x = node.call("right_shift",
                  {node.add(x, static_cast<double>(int64_t{1} << (to.shift - 1))), node.like(x, to.shift)});
  Value* distance = node.call("abs", {x});
  Value* place = node.call("right_shift", {distance, node.like(distance, bits)});
  Value* entries = node.list(DType::i(32), sigmoid_table());
  auto entry = [&](Value* at) {
    return node.call("take", {entries, at}, {{"axis", int64_t{0}}, {"mode", std::string("clip")}});
  };
  Value *here = entry(place), *next = entry(node.add(place, 1));
  Value* rest = node.call("bitwise_and", {distance, node.like(distance, (1 << bits) - 1)});
  Value* beyond_here = node.multiply(rest, node.subtract(next, here));
  Value* inside = node.add(node.multiply(here, 1 << bits), beyond_here);
  Value* outside = node.call("greater_equal", {place, node.like(place, 255)});
  return {x, node.where(outside, node.like(inside, beyond), inside)};
}

/// Returns (steps >= 0 ? result + plus : minus - result) >> bits.
Value* by_sign(Node& node, const TableResult& r, double plus, double minus, int bits) {
  Value* positive = node.call("greater_equal", {r.steps, node.like(r.steps, 0)});
  Value* negated = node.subtract(node.like(r.result, minus), r.result);
  Value* y = node.where(positive, node.add(r.result, plus), negated);
  return node.as(node.call("right_shift", {y, node.like(y, bits)}), DType::i(16));
}

Status logistic(Node& node) {
  if (!node.quantized()) return node.set(node.call("sigmoid", {node.input(0)}));
  if (is_byte(node)) return float_table(node, [](float v) { return 1.0F / (1.0F + std::exp(-v)); });
  TableResult r = from_table(node, to_table(node, 0), 9, 0x7FFF << 10);
  return node.set(by_sign(node, r, 1 << 9, (1 << 25) + (1 << 9) - 1, 10));
}

Status tanh(Node& node) {
  if (!node.quantized()) return node.set(node.call("tanh", {node.input(0)}));
  if (is_byte(node)) return float_table(node, [](float v) { return std::tanh(v); });
  TableResult r = from_table(node, to_table(node, 1), 8, 0xFFFF << 8);
  return node.set(by_sign(node, r, -(1 << 23) + (1 << 7), (1 << 23) + (1 << 7) - 1, 8));
}

/// Rescales a stored value and clamps it to the bounds of the activation.
Status relu(Node& node, Node::Activation activation) {
  Value* x = node.input(0);
  if (!node.quantized()) return node.set(node.activate(x, activation));
  Multiplier m = multiplier_of(static_cast<double>(node.scale_of(node.in(0)) / node.scale_of(node.out())));
  Value* steps = node.add(node.i32(x), static_cast<double>(-node.zero_of(node.in(0))));
  Stored stored{.dtype = node.stored_type(),
                .zero_point = node.zero_of(node.out()),
                .limits = node.activation_limits(activation, node.out())};
  return node.set(node.scale(steps, m, stored));
}

template <Node::Activation A>
Status relu_of(Node& node) {
  return relu(node, A);
}

Status relu_0_to_1(Node& node) {
  return node.set(node.clamp(node.input(0), 0, 1));
}

Status leaky_relu(Node& node) {
  float alpha = node.options<tflite_schema::LeakyReluOptions>().alpha();
  Value* x = node.input(0);
  if (!node.quantized()) return node.set(node.call("nn.leaky_relu", {x}, {{"alpha", static_cast<double>(alpha)}}));
  float in = node.scale_of(node.in(0)), out = node.scale_of(node.out());
  bool negative = alpha < 0;
  Multiplier slope = multiplier_of(std::abs(static_cast<double>(in * alpha / out)));
  Multiplier same = multiplier_of(static_cast<double>(in / out));
  if (is_byte(node))
    return integer_table(node, [&](int32_t v) {
      if (v >= 0) return int64_t{scaled(v, same)};
      return negative ? -int64_t{scaled(v, slope)} : int64_t{scaled(v, slope)};
    });
  Value* steps = node.add(node.i32(x), static_cast<double>(-node.zero_of(node.in(0))));
  Value* below = node.scale(steps, slope);
  if (negative) below = node.call("negative", {below});
  Value* above = node.scale(steps, same);
  Value* y = node.where(node.call("greater_equal", {steps, node.like(steps, 0)}), above, below);
  y = node.add(y, static_cast<double>(node.zero_of(node.out())));
  return node.set(node.saturate(y, node.stored_type()));
}

Status prelu(Node& node) {
  Value *x = node.input(0), *alpha = node.input(1);
  if (!node.quantized()) {  // in the text, a vector would be along axis 1
    if (node.rank(alpha) == 1 && node.rank(x) > 2) alpha = node.reshape(alpha, {1, node.dims(alpha)[0]});
    return node.set(node.call("nn.prelu", {x, alpha}));
  }
  float in = node.scale_of(node.in(0)), slope = node.scale_of(node.in(1)), out = node.scale_of(node.out());
  Value* steps = node.add(node.i32(x), static_cast<double>(-node.zero_of(node.in(0))));
  Value* product = node.multiply(steps, node.add(node.i32(alpha), static_cast<double>(-node.zero_of(node.in(1)))));
  Value* above = node.scale(steps, multiplier_of(static_cast<double>(in / out)));
  Value* below = node.scale(product, multiplier_of(static_cast<double>(in * slope / out)));
  Value* y = node.where(node.call("greater_equal", {steps, node.like(steps, 0)}), above, below);
  y = node.add(y, static_cast<double>(node.zero_of(node.out())));
  return node.set(node.saturate(y, node.stored_type()));
}

/// Rounds a 31-bit mantissa to 16 bits.
int16_t half_of(Multiplier m) {
  constexpr int64_t kMost = INT32_MAX - (1 << 15);
  return static_cast<int16_t>(m.mantissa >= kMost ? INT16_MAX : (int64_t{m.mantissa} + (1 << 15)) >> 16);
}

int16_t saturated16(int64_t v) {
  return static_cast<int16_t>(std::clamp<int64_t>(v, INT16_MIN, INT16_MAX));
}

Status hard_swish(Node& node) {
  if (!node.quantized()) return node.set(node.call("nn.hard_swish", {node.input(0)}));
  if (!is_byte(node)) return node.error(Kind::dtype_mismatch, "16 bits are not supported");
  float fine = (1.0F / 128.0F) * node.scale_of(node.in(0));
  Multiplier out = multiplier_of(static_cast<double>(fine / node.scale_of(node.out())));
  Multiplier gate = multiplier_of(static_cast<double>(fine / (3.0F / 32768.0F)));
  if (node.ok() && out.shift > 0) return node.error(Kind::invalid_value, "the result's scale is too small");
  return integer_table(node, [&](int32_t v) {
    auto hires = static_cast<int16_t>(v * 128);
    int16_t at_output = doubled_high16(hires, half_of(out));
    int16_t g = hires;
    if (gate.shift > 0) g = saturated16(int64_t{g} * (int64_t{1} << (gate.shift - 1)));
    g = doubled_high16(g, half_of(gate));
    if (gate.shift > 0) g = saturated16(int64_t{g} * 2);
    if (gate.shift < 0) g = static_cast<int16_t>(divided_by_power(g, std::min(-gate.shift, 30)));
    g = static_cast<int16_t>((int32_t{g} + (1 << 15)) >> 1);
    auto product = static_cast<int16_t>(int32_t{g} * at_output / (1 << 15));  // truncated, which cancels earlier biases
    return int64_t{divided_by_power(product, std::min(-out.shift, 30))};
  });
}

Status abs(Node& node) {
  Value* x = node.input(0);
  if (!node.quantized()) return node.set(node.call("abs", {x}));
  float in = node.scale_of(node.in(0)), out = node.scale_of(node.out());
  Value* distance = node.call("abs", {node.add(node.i32(x), static_cast<double>(-node.zero_of(node.in(0))))});
  Multiplier m = in == out ? Multiplier{1 << 30, 1} : multiplier_of(static_cast<double>(in / out));
  return node.set(node.scale(distance, m, {.dtype = node.stored_type(), .zero_point = node.zero_of(node.out())}));
}

/// Computes 16-bit and 8-bit roots in float32, truncated.
Status sqrt(Node& node) {
  Value* x = node.input(0);
  if (!node.quantized()) return node.set(node.call("sqrt", {x}));
  float in = node.scale_of(node.in(0)), out = node.scale_of(node.out());
  if (is_byte(node))
    return integer_table(node, [&](int32_t v) {
      float real = in * static_cast<float>(v);
      return static_cast<int64_t>(std::sqrt(std::max(real, 0.0F)) / out);
    });
  Value* steps = node.f32(node.add(node.i32(x), static_cast<double>(-node.zero_of(node.in(0)))));
  Value* zero = node.number(DType::f(32), 0);
  Value* root = node.call("sqrt", {node.maximum(node.multiply(steps, in), zero)});
  Value* y = node.add(node.i32(node.divide(root, node.like(root, out))), static_cast<double>(node.zero_of(node.out())));
  return node.set(node.saturate(y, node.stored_type()));
}

Status rsqrt(Node& node) {
  Value* x = node.input(0);
  if (!node.quantized()) return node.set(node.call("rsqrt", {x}));
  float in = node.scale_of(node.in(0)), out = node.scale_of(node.out());
  if (!is_byte(node)) {
    float most = static_cast<float>(INT16_MAX) * out;
    return float_table(node, [most](float v) { return v <= 0 ? most : 1.0F / std::sqrt(v); });
  }
  constexpr int kMoreBits = 20;
  Multiplier m = multiplier_of(1.0 / static_cast<double>(std::sqrt(in) * out));
  return integer_table(node, [&](int32_t v) {
    if (v <= 0) return int64_t{INT32_MAX};
    Multiplier root = inverse_root_of(v);
    int32_t data = scaled(1, {root.mantissa, root.shift + kMoreBits});
    return int64_t{scaled(data, {m.mantissa, m.shift - kMoreBits})};
  });
}

constexpr Row kRows[] = {
    {.code = BuiltinOperator::SIN, .convert = plain<kSin>, .types = kF32},
    {.code = BuiltinOperator::COS, .convert = plain<kCos>, .types = kF32},
    {.code = BuiltinOperator::FLOOR, .convert = plain<kFloor>, .types = kF32},
    {.code = BuiltinOperator::CEIL, .convert = plain<kCeil>, .types = kF32},
    {.code = BuiltinOperator::ROUND, .convert = plain<kRound>, .types = kF32, .note = "ties to even"},
    {.code = BuiltinOperator::NEG, .convert = plain<kNegative>, .types = kF32 | kI32 | kI64},
    {.code = BuiltinOperator::SQUARE, .convert = plain<kSquare>, .types = kF32},
    {.code = BuiltinOperator::SIGN, .convert = plain<kSign>, .types = kF32 | kI32},
    {.code = BuiltinOperator::LOGICAL_NOT, .convert = plain<kNot>, .types = kBool},
    {.code = BuiltinOperator::LOG, .convert = log, .types = kF32 | kI8 | kI16, .rounding = "table of float32"},
    {.code = BuiltinOperator::EXP, .convert = exp, .types = kF32 | kI8 | kI16, .rounding = "table of float32"},
    {.code = BuiltinOperator::ELU, .convert = elu, .types = kF32 | kI8, .rounding = "table of float32"},
    {.code = BuiltinOperator::GELU, .convert = gelu, .types = kF32 | kQuantized, .rounding = "table of float32"},
    {.code = BuiltinOperator::LOGISTIC,
     .convert = logistic,
     .types = kF32 | kQuantized,
     .rounding = "table of float32; int16: interpolated in integers"},
    {.code = BuiltinOperator::TANH,
     .convert = tanh,
     .types = kF32 | kQuantized,
     .rounding = "table of float32; int16: interpolated in integers"},
    {.code = BuiltinOperator::RELU,
     .convert = relu_of<Node::Activation::RELU>,
     .types = kF32 | kQuantized,
     .rounding = "double"},
    {.code = BuiltinOperator::RELU6,
     .convert = relu_of<Node::Activation::RELU6>,
     .types = kF32 | kQuantized,
     .rounding = "double"},
    {.code = BuiltinOperator::RELU_N1_TO_1,
     .convert = relu_of<Node::Activation::RELU_N1_TO_1>,
     .types = kF32 | kQuantized,
     .rounding = "double"},
    {.code = BuiltinOperator::RELU_0_TO_1, .convert = relu_0_to_1, .types = kF32},
    {.code = BuiltinOperator::LEAKY_RELU, .convert = leaky_relu, .types = kF32 | kQuantized, .rounding = "double"},
    {.code = BuiltinOperator::PRELU,
     .convert = prelu,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kF32 | kI8 | kU8,
     .rounding = "double"},
    {.code = BuiltinOperator::HARD_SWISH,
     .convert = hard_swish,
     .types = kF32 | kI8 | kU8,
     .rounding = "16-bit fixed point, as a table"},
    {.code = BuiltinOperator::ABS, .convert = abs, .types = kF32 | kI8 | kI16 | kI32, .rounding = "double"},
    {.code = BuiltinOperator::RSQRT,
     .convert = rsqrt,
     .types = kF32 | kI8 | kI16,
     .rounding = "double, from a fixed-point root, as a table; int16: table of float32"},
    {.code = BuiltinOperator::SQRT, .convert = sqrt, .types = kF32 | kI8 | kI16, .rounding = "float32, clamped"},
};

}  // namespace
}  // namespace relaxc::tflite::unary_family

RELAXC_TFLITE_OPERATORS(unary, kRows)
