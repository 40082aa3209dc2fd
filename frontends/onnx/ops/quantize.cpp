// quantize.cpp: linear quantization, and the operators on quantized tensors.
//
// QLinear operators are their float form between a dequantization and a quantization, as the standard defines them,
// except that integer products are summed in integers, which is exact. Passes find the pattern of QDQ graphs; integer
// operators (ConvInteger, MatMulInteger) subtract the zero points in int32.
#include <algorithm>

#include "frontends/onnx/conversion.h"
#include "frontends/onnx/convolution.h"
#include "frontends/onnx/fold.h"
#include "frontends/onnx/load.h"
#include "frontends/onnx/quantized.h"

namespace relaxc::frontend::quantize_family {
namespace {

/// Returns a scale or zero point that broadcasts with `x`: one element is returned as it is; a list lies along `axis`;
/// with blocks, each element is repeated over a block along the axis.
Result<Value*> spread(Node& node, Value* parameter, Value* x, int64_t axis, int64_t block) {
  size_t rank = x->shape().size();
  const std::vector<Expr>& dims = parameter->shape();
  if (block > 0) {
    if (dims.size() != rank)
      return node.error(Kind::rank_mismatch, "blocked scales must have the rank of the data, found {}",
                        relax::to_string(parameter->info));
    RELAXC_TRY(Value * repeated, node.call("repeat", {parameter}, {{"repeats", block}, {"axis", axis}}));
    if (arith::prove_equal(repeated->shape()[static_cast<size_t>(axis)], x->shape()[static_cast<size_t>(axis)]))
      return repeated;
    // The last block may be shorter.
    return node.call("strided_slice",
                     {repeated, node.shape({node.index(0)}), node.shape({x->shape()[static_cast<size_t>(axis)]})},
                     {{"axes", std::vector<int64_t>{axis}}});
  }
  if (dims.empty()) return parameter;
  if (dims.size() != 1)
    return node.error(Kind::rank_mismatch, "scale and zero point must be scalars or lists, found {}",
                      relax::to_string(parameter->info));
  if (dims[0].is_constant(1)) return reshape(node, parameter, {});
  RELAXC_TRY(int64_t at, normal_axis(node, axis, static_cast<int64_t>(rank)));
  std::vector<Expr> shape(rank - static_cast<size_t>(at), node.index(1));
  shape[0] = dims[0];
  return reshape(node, parameter, std::move(shape));
}

/// Returns whether `quantize` and `dequantize` take the scale or zero point as it is: a scalar, or a list that is known
/// to be as long as the axis. A list of open length may have one element; broadcasting handles that at run time.
bool is_plain(const Value* parameter, const Value& x, int64_t axis) {
  if (parameter == nullptr || parameter->shape().empty()) return true;
  int64_t rank = static_cast<int64_t>(x.shape().size()), at = axis < 0 ? axis + rank : axis;
  if (parameter->shape().size() > 1) return false;
  if (parameter->shape()[0].is_constant(1)) return true;
  return at >= 0 && at < rank && arith::prove_equal(parameter->shape()[0], x.shape()[static_cast<size_t>(at)]);
}

/// Returns (x - zero) * scale.
Result<Value*> dequantized(Node& node, Value* x, Value* scale, Value* zero, int64_t axis, int64_t block) {
  DType dtype = scale->dtype(), stored = x->dtype();
  bool integer = stored.is_integer() && (stored.bits <= 16 || stored == DType::i(32));
  if (integer && block == 0 && is_plain(scale, *x, axis) && is_plain(zero, *x, axis) &&
      (zero == nullptr || zero->dtype() == stored))
    return node.call("dequantize", {x, scale, zero}, {{"axis", axis}});
  RELAXC_TRY(Value * factor, spread(node, scale, x, axis, block));
  if (zero != nullptr) {
    RELAXC_TRY(zero, spread(node, zero, x, axis, block));
    if (x->dtype().is_integer()) {
      RELAXC_TRY(x, astype(node, x, DType::i(32)));
      RELAXC_TRY(zero, astype(node, zero, DType::i(32)));
      RELAXC_TRY(x, node.call("subtract", {x, zero}));
    }
  }
  RELAXC_TRY(x, astype(node, x, dtype));
  return node.call("multiply", {x, factor});
}

struct Limits {
  double low, high;
};
std::optional<Limits> limits(DType dtype) {
  if (!dtype.is_integer() || dtype.bits > 16) return std::nullopt;
  double count = static_cast<double>(int64_t{1} << dtype.bits);
  return dtype.is_int() ? Limits{-count / 2, count / 2 - 1} : Limits{0, count - 1};
}

bool is_small_float(DType dtype) {
  return dtype.is_float() && dtype.bits <= 8 && dtype.code != TypeCode::kFloat8E8M0FNU;
}

/// Returns x / scale as a float of a byte or less. Its zero point must be 0, and is not added, since that would only
/// lose the sign of -0.
Result<Value*> quantized_float(Node& node, Value* x, Value* divisor, DType dtype) {
  if (node.has(2)) {
    std::optional<double> zero = node.constant_scalar(2);
    if (zero && *zero != 0)
      return node.error(Kind::invalid_value, "the zero point of {} must be 0, found {}", to_string(dtype), *zero);
  }
  RELAXC_TRY(ConversionRules rules, conversion_rules(node));
  RELAXC_TRY(Value * y, node.call("divide", {x, divisor}));
  return converted(node, y, dtype, rules);
}

/// Returns saturate(round(x / scale) + zero), where round takes ties to even.
Result<Value*> quantized(Node& node, Value* x, Value* scale, Value* zero, DType dtype, int64_t axis, int64_t block) {
  std::optional<Limits> range = limits(dtype);
  if (!range && !is_small_float(dtype))
    return node.error(Kind::unsupported, "quantization to {} is not supported", to_string(dtype));
  DType compute = DType::f(32);
  RELAXC_TRY(x, astype(node, x, compute));
  RELAXC_TRY(scale, astype(node, scale, compute));
  if (range && block == 0 && is_plain(scale, *x, axis) && is_plain(zero, *x, axis) &&
      (zero == nullptr || zero->dtype() == dtype))
    return node.call("quantize", {x, scale, zero}, {{"axis", axis}, {"out_dtype", dtype}});
  RELAXC_TRY(Value * divisor, spread(node, scale, x, axis, block));
  if (!range) return quantized_float(node, x, divisor, dtype);
  RELAXC_TRY(Value * y, node.call("divide", {x, divisor}));
  RELAXC_TRY(y, node.call("round", {y}));
  if (zero != nullptr) {
    RELAXC_TRY(zero, spread(node, zero, x, axis, block));
    RELAXC_TRY(zero, astype(node, zero, compute));
    RELAXC_TRY(y, node.call("add", {y, zero}));
  }
  RELAXC_TRY(y, node.call("maximum", {y, node.scalar(compute, range->low)}));
  RELAXC_TRY(y, node.call("minimum", {y, node.scalar(compute, range->high)}));
  return node.call("astype", {y}, {{"dtype", dtype}});
}

Status dequantize(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * scale, node.input(1));
  RELAXC_TRY(Value * zero, node.optional_input(2));
  int64_t axis = node.int_attr("axis", 1), rank = static_cast<int64_t>(x->shape().size());
  int64_t block = node.int_attr("block_size", 0);
  if (block > 0) {
    RELAXC_TRY(axis, normal_axis(node, axis, rank));
  }
  RELAXC_TRY(Value * y, dequantized(node, x, scale, zero, axis, block));
  if (node.has_attr("output_dtype") && node.int_attr("output_dtype", 0) != 0) {
    RELAXC_TRY(DType dtype, dtype_of(static_cast<int32_t>(node.int_attr("output_dtype", 0)), node.location, diag));
    RELAXC_TRY(y, astype(node, y, dtype));
  }
  return node.set(0, y);
}

Status quantize(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * scale, node.input(1));
  RELAXC_TRY(Value * zero, node.optional_input(2));
  DType dtype = zero == nullptr ? DType::u(8) : zero->dtype();
  if (zero == nullptr && node.int_attr("output_dtype", 0) != 0) {
    RELAXC_TRY(dtype, dtype_of(static_cast<int32_t>(node.int_attr("output_dtype", 0)), node.location, diag));
  }
  int64_t axis = node.int_attr("axis", 1), block = node.int_attr("block_size", 0);
  if (block > 0) {
    RELAXC_TRY(axis, normal_axis(node, axis, static_cast<int64_t>(x->shape().size())));
  }
  return node.set(0, quantized(node, x, scale, zero, dtype, axis, block));
}

/// Returns x as int32 minus its zero point; a list of zero points lies along `axis`.
Result<Value*> centered(Node& node, Value* x, Value* zero, int64_t axis) {
  RELAXC_TRY(Value * wide, astype(node, x, DType::i(32)));
  if (zero == nullptr) return wide;
  if (zero->shape().size() < 2) {
    RELAXC_TRY(zero, spread(node, zero, x, axis, 0));
  }
  RELAXC_TRY(zero, astype(node, zero, DType::i(32)));
  return node.call("subtract", {wide, zero});
}

Status matmul_integer(Node& node) {
  RELAXC_TRY(Value * a, node.input(0));
  RELAXC_TRY(Value * b, node.input(1));
  RELAXC_TRY(Value * a_zero, node.optional_input(2));
  RELAXC_TRY(Value * b_zero, node.optional_input(3));
  // Zero points of A are per row, those of B per column.
  RELAXC_TRY(a, centered(node, a, a_zero, -2));
  RELAXC_TRY(b, centered(node, b, b_zero, -1));
  return node.set(0, node.call("matmul", {a, b}));
}

Status qlinear_matmul(Node& node) {
  RELAXC_TRY(std::vector<Value*> v, node.all_inputs());
  if (v.size() != 8) return node.error(Kind::wrong_arity, "it takes 8 inputs, found {}", v.size());
  RELAXC_TRY(Value * a, centered(node, v[0], v[2], -2));
  RELAXC_TRY(Value * b, centered(node, v[3], v[5], -1));
  RELAXC_TRY(Value * sum, node.call("matmul", {a, b}));
  RELAXC_TRY(sum, astype(node, sum, DType::f(32)));
  RELAXC_TRY(Value * a_scale, astype(node, v[1], DType::f(32)));
  RELAXC_TRY(Value * b_scale, astype(node, v[4], DType::f(32)));
  RELAXC_TRY(a_scale, spread(node, a_scale, sum, -2, 0));
  RELAXC_TRY(b_scale, spread(node, b_scale, sum, -1, 0));
  RELAXC_TRY(Value * y, node.call("multiply", {sum, a_scale}));
  RELAXC_TRY(y, node.call("multiply", {y, b_scale}));
  return node.set(0, quantized(node, y, v[6], v[7], v[7]->dtype(), -1, 0));
}

/// Returns the convolution in integers; zero points of the weight are per output channel.
Result<Value*> integer_convolution(Node& node, Value* x, Value* x_zero, Value* weight, Value* weight_zero) {
  RELAXC_TRY(x, centered(node, x, x_zero, 1));
  RELAXC_TRY(weight, centered(node, weight, weight_zero, 0));
  return convolution(node, x, weight);
}

Status conv_integer(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * weight, node.input(1));
  RELAXC_TRY(Value * x_zero, node.optional_input(2));
  RELAXC_TRY(Value * weight_zero, node.optional_input(3));
  return node.set(0, integer_convolution(node, x, x_zero, weight, weight_zero));
}

/// Reports scales and zero points of x and y that are not scalars, and of w that are not one per output channel either.
Status check_qlinear_conv(Node& node, const std::vector<Value*>& v) {
  constexpr const char* kNames[] = {"x",       "x_scale",      "x_zero_point", "w",
                                    "w_scale", "w_zero_point", "y_scale",      "y_zero_point"};
  for (size_t i : {1, 4, 6})
    if (v[i]->dtype() != DType::f(32))
      return node.error(Kind::dtype_mismatch, "'{}' must be float32, found {}; put a Cast node before it", kNames[i],
                        to_string(v[i]->dtype()));
  const int64_t* channels = v[3]->shape().empty() ? nullptr : v[3]->shape()[0].constant();
  for (size_t i : {1, 2, 4, 5, 6, 7}) {
    bool of_weight = i == 4 || i == 5;
    if (v[i]->shape().size() > 1)
      return node.error(Kind::rank_mismatch, "'{}' must be a scalar{}, found {}", kNames[i],
                        of_weight ? " or a list" : "", relax::to_string(v[i]->info));
    const int64_t* count = v[i]->shape().empty() ? nullptr : v[i]->shape()[0].constant();
    if (count == nullptr || *count == 1 || (of_weight && (channels == nullptr || *count == *channels))) continue;
    return node.error(Kind::shape_mismatch, "'{}' has {} values, must have {}", kNames[i], *count,
                      of_weight ? fmt::format("1, or {} as 'w' has output channels", *channels) : "1");
  }
  return Done{};
}

/// Converts QLinearConv. The bias is int32 in units of x_scale * w_scale, so it is added to the exact sum.
Status qlinear_conv(Node& node) {
  RELAXC_TRY(std::vector<Value*> v, node.all_inputs());
  if (v.size() < 8 || v.size() > 9) return node.error(Kind::wrong_arity, "it takes 8 or 9 inputs, found {}", v.size());
  RELAXC_DO(check_qlinear_conv(node, v));
  RELAXC_TRY(Value * sum, integer_convolution(node, v[0], v[2], v[3], v[5]));
  if (v.size() == 9) {
    RELAXC_TRY(Value * bias, spread(node, v[8], sum, 1, 0));
    RELAXC_TRY(sum, node.call("add", {sum, bias}));
  }
  RELAXC_TRY(sum, astype(node, sum, DType::f(32)));
  RELAXC_TRY(Value * x_scale, spread(node, v[1], sum, 1, 0));
  RELAXC_TRY(Value * weight_scale, spread(node, v[4], sum, 1, 0));
  RELAXC_TRY(Value * scale, node.call("multiply", {x_scale, weight_scale}));
  RELAXC_TRY(Value * y, node.call("multiply", {sum, scale}));
  return node.set(0, quantized(node, y, v[6], v[7], v[7]->dtype(), 1, 0));
}

Status dynamic_quantize(Node& node) {
  ConversionBuilder c(node);
  Quantization q = quantized_by_range(c, c.input(0));
  RELAXC_DO(c.set(1, q.scale));
  RELAXC_DO(c.set(2, q.zero));
  return c.set(0, q.y);
}

constexpr Converter kRows[] = {
    {.name = "DequantizeLinear", .convert = dequantize},
    {.name = "QuantizeLinear", .convert = quantize, .note = "only to integers of up to 16 bits and floats of up to 8"},
    {.name = "QLinearMatMul", .convert = qlinear_matmul},
    {.name = "QLinearConv", .convert = qlinear_conv},
    {.name = "MatMulInteger", .convert = matmul_integer},
    {.name = "ConvInteger", .convert = conv_integer},
    {.name = "DynamicQuantizeLinear", .convert = dynamic_quantize},
};

}  // namespace
}  // namespace relaxc::frontend::quantize_family

namespace relaxc::frontend {

Value* centered(ConversionBuilder& c, Value* x, Value* zero, int64_t axis) {
  return c.ok() ? c.take(quantize_family::centered(c.node, x, zero, axis)) : nullptr;
}

Value* dequantized(ConversionBuilder& c, Value* x, Value* scale, Value* zero, int64_t axis, int64_t block) {
  return c.ok() ? c.take(quantize_family::dequantized(c.node, x, scale, zero, axis, block)) : nullptr;
}

Value* quantized(ConversionBuilder& c, Value* x, Value* scale, Value* zero, DType dtype, int64_t axis) {
  return c.ok() ? c.take(quantize_family::quantized(c.node, x, scale, zero, dtype, axis, 0)) : nullptr;
}

Quantization quantized_by_range(ConversionBuilder& c, Value* x) {
  if (!c.ok()) return {};
  DType dtype = x->dtype();
  Value *zero = c.number(dtype, 0), *steps = c.number(dtype, 255);
  Value* high = c.call("maximum", {c.reduce("max", x, Ints{}, false), zero});
  Value* low = c.call("minimum", {c.reduce("min", x, Ints{}, false), zero});
  // If all elements are zero, every scale is right; ONNX Runtime uses 1.
  Value *width = c.subtract(high, low), *none = c.call("equal", {width, zero});
  Value* step = c.divide(width, steps);
  Value* scale = c.where(none, c.number(dtype, 1), step);
  Value* point = c.subtract(zero, c.divide(low, scale));
  point = c.call("minimum", {c.call("maximum", {point, zero}), steps});
  point = c.as(c.call("round", {point}), DType::u(8));
  return {quantized(c, x, scale, point, DType::u(8)), scale, point};
}

}  // namespace relaxc::frontend

RELAXC_CONVERTERS(quantize, kRows)
