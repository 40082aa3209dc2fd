// quantize.cpp: conversions between real numbers and stored integers, and between types.
//
// TFLite rounds quotients to nearest with ties away from zero. That is done by truncating and looking at the remainder,
// since adding 0.5 first would round twice.
#include <cmath>

#include "frontends/tflite/operators.h"

namespace relaxc::tflite::quantize_family {
namespace {

bool is_stored(TensorType type) {
  return type == TensorType::INT8 || type == TensorType::UINT8 || type == TensorType::INT16;
}

/// Returns x rounded to the nearest whole number, ties away from zero; float32.
Value* rounded_away(Node& node, Value* x) {
  Value* whole = node.call("trunc", {x});
  Value* rest = node.call("abs", {node.subtract(x, whole)});
  Value *sign = node.call("sign", {x}), *none = node.like(x, 0);
  Value* step = node.where(node.call("less", {rest, node.like(rest, 0.5)}), none, sign);
  return node.add(whole, step);
}

/// Scale and zero point as tensors that broadcast against x.
struct Parameters {
  Value *scale = nullptr, *zero = nullptr;
};

Parameters parameters_of(Node& node, const Tensor& tensor, DType zero_dtype) {
  const Quantization& quant = tensor.quantization;
  if (quant.scale.empty()) return {node.refuse("'{}' has no scale", tensor.name), nullptr};
  if (quant.scale.size() == 1)
    return {node.number(DType::f(32), quant.scale[0]),
            node.number(zero_dtype, static_cast<double>(quant.zero_point[0]))};
  Ints shape(tensor.shape.size(), 1);
  shape[static_cast<size_t>(quant.axis)] = static_cast<int64_t>(quant.scale.size());
  return {node.reals(quant.scale, shape), node.list(zero_dtype, quant.zero_point, shape)};
}

Status quantize_reals(Node& node, Value* x) {
  DType stored = node.dtype_of(node.out());
  Parameters p = parameters_of(node, node.out(), DType::f(32));
  Value* steps = node.add(rounded_away(node, node.divide(node.f32(x), p.scale)), p.zero);
  Limits limits = limits_of(stored);
  return node.set(
      node.as(node.clamp(steps, static_cast<double>(limits.low), static_cast<double>(limits.high)), stored));
}

Status quantize(Node& node) {
  Value* x = node.input(0);
  TensorType to = node.out().type;
  if (!node.ok()) return node.status();
  if (!is_stored(to) && to != TensorType::INT32)
    return node.error(Kind::dtype_mismatch, "quantization to {} is not supported", type_name(to));
  if (node.type() == TensorType::FLOAT32 || node.type() == TensorType::FLOAT16) return quantize_reals(node, x);
  double real = static_cast<double>(node.scale_of(node.in(0))) / static_cast<double>(node.scale_of(node.out()));
  if (node.ok() && !(real < 1e9)) return node.error(Kind::invalid_value, "scales are {} apart", real);
  Value* steps = node.add(node.i32(x), static_cast<double>(-node.in(0).quantization.zero_point.at(0)));
  return node.set(
      node.scale(steps, multiplier_of(real),
                 {.dtype = node.dtype_of(node.out()), .zero_point = node.out().quantization.zero_point.at(0)}));
}

Status dequantize(Node& node) {
  Value* x = node.input(0);
  if (node.type() == TensorType::FLOAT16) return node.set(node.f32(x));
  Parameters p = parameters_of(node, node.in(0), DType::i(32));
  return node.set(node.multiply(node.f32(node.subtract(node.i32(x), p.zero)), p.scale));
}

Status cast(Node& node) {
  return node.set(node.as(node.input(0), node.dtype_of(node.out())));
}

/// Quantizes and dequantizes x, over a range that is shifted so that 0 is represented exactly.
Status fake_quant(Node& node) {
  const auto& o = node.options<tflite_schema::FakeQuantOptions>();
  int bits = o.num_bits();
  if (bits < 2 || bits > 16 || !(o.min() < o.max()))
    return node.error(Kind::invalid_attribute, "{} bits from {} to {}", bits, o.min(), o.max());
  float low = o.narrow_range() ? 1 : 0, high = static_cast<float>((1 << bits) - 1);
  float scale = (o.max() - o.min()) / (high - low), from_low = low - o.min() / scale;
  float zero = from_low < low ? low : from_low > high ? high : std::round(from_low);
  float least = (low - zero) * scale, most = (high - zero) * scale, inverse = 1.0F / scale;
  Value* x = node.clamp(node.input(0), least, most);
  Value* steps = node.add(node.multiply(node.add(x, -least), inverse), 0.5);
  return node.set(node.add(node.multiply(node.call("floor", {steps}), scale), least));
}

/// Reinterprets the bits of x as another type of the same width.
Status bitcast(Node& node) {
  DType to = node.dtype_of(node.out());
  Value* x = node.input(0);
  if (!node.ok()) return node.status();
  if (to.bits != x->dtype().bits || to.is_bool() || x->dtype().is_bool())
    return node.error(Kind::unsupported, "types of different widths are not supported");
  return node.set(x->dtype() == to ? x : node.call("reinterpret", {x}, {{"dtype", to}}));
}

constexpr Row kRows[] = {
    {.code = BuiltinOperator::QUANTIZE,
     .convert = quantize,
     .types = kF32 | kQuantized | kI32 | type_bit(TensorType::FLOAT16),
     .rounding = "from floats: float32 quotient, ties away from zero; from integers: double"},
    {.code = BuiltinOperator::DEQUANTIZE,
     .convert = dequantize,
     .types = kQuantized | kI32 | type_bit(TensorType::FLOAT16) | type_bit(TensorType::INT4)},
    {.code = BuiltinOperator::CAST, .convert = cast, .note = "floats to integers saturate"},
    {.code = BuiltinOperator::FAKE_QUANT, .convert = fake_quant, .types = kF32},
    {.code = BuiltinOperator::BITCAST, .convert = bitcast, .note = "types must have one width"},
};

}  // namespace
}  // namespace relaxc::tflite::quantize_family

RELAXC_TFLITE_OPERATORS(quantize, kRows)
