// qnn.cpp: operators on quantized tensors.
//
// Convolutions and matrix products return int32 sums, as in Relay. All others are expanded to dequantization, the
// operator and quantization; TVM has fixed-point arithmetic for some, so results next to a tie may differ by one.
#include <algorithm>

#include "frontends/relax/tvm/tvm_layout.h"
#include "frontends/relay/operators.h"

namespace relaxc::relay::qnn_family {
namespace {

/// Reshapes a scale or zero point, a scalar or a vector along `axis`, to broadcast with a tensor of `rank` dims.
Result<Value*> spread(TvmCall& c, Value* parameter, size_t rank, int64_t axis) {
  const Exprs& dims = parameter->shape();
  if (dims.empty()) return parameter;
  if (dims.size() == 1 && dims[0].is_constant(1)) return c.reshape(parameter, {});
  auto count = static_cast<int64_t>(rank);
  if (dims.size() != 1 || axis < -count || axis >= count)
    return c.error("axis", Kind::invalid_attribute, "scales {} along axis {} of {}", relax::to_string(parameter->info),
                   axis, count);
  Exprs along(static_cast<size_t>(axis < 0 ? -axis : count - axis), c.context().index(1));
  along[0] = dims[0];
  return c.reshape(parameter, std::move(along));
}

Result<Value*> dequantized(TvmCall& c, Value* x, Value* scale, Value* zero, int64_t axis) {
  size_t rank = x->shape().size();
  RELAXC_TRY(scale, spread(c, scale, rank, axis));
  RELAXC_TRY(zero, spread(c, zero, rank, axis));
  RELAXC_TRY(x, c.cast(x, DType::i(32)));
  RELAXC_TRY(zero, c.cast(zero, DType::i(32)));
  RELAXC_TRY(x, c.op("subtract", {x, zero}));
  RELAXC_TRY(x, c.cast(x, DType::f(32)));
  return c.op("multiply", {x, scale});
}

/// Returns round(x / scale) + zero, clamped to the range of `stored`.
Result<Value*> quantized(TvmCall& c, Value* x, Value* scale, Value* zero, int64_t axis, DType stored) {
  size_t rank = x->shape().size();
  RELAXC_TRY(scale, spread(c, scale, rank, axis));
  RELAXC_TRY(zero, spread(c, zero, rank, axis));
  if (scale->shape().empty() && zero->shape().empty() && stored.bits <= 16) {
    RELAXC_TRY(zero, c.cast(zero, stored));
    return c.op("quantize", {x, scale, zero}, {{"out_dtype", stored}});
  }
  RELAXC_TRY(x, c.op("divide", {x, scale}));
  RELAXC_TRY(x, c.op("round", {x}));
  RELAXC_TRY(zero, c.cast(zero, DType::f(32)));
  RELAXC_TRY(x, c.op("add", {x, zero}));
  return c.cast(x, stored);  // casting saturates
}

/// Returns the dequantized operand whose tensor, scale and zero point are the parameters of the given names.
Result<Value*> real_operand(TvmCall& c, std::string_view data, std::string_view scale, std::string_view zero,
                            int64_t axis) {
  RELAXC_TRY(Value * x, c.tensor(data));
  RELAXC_TRY(Value * by, c.tensor(scale));
  RELAXC_TRY(Value * from, c.tensor(zero));
  return dequantized(c, x, by, from, axis);
}

/// Quantizes the result with the output's scale and zero point, in the dtype `stored`.
Result<Term> stored_result(TvmCall& c, Value* y, DType stored, int64_t axis = -1) {
  RELAXC_TRY(Value * scale, c.tensor("output_scale"));
  RELAXC_TRY(Value * zero, c.tensor("output_zero_point"));
  return c.term(quantized(c, y, scale, zero, axis, stored));
}

/// quantize(data, output_scale, output_zero_point, out_dtype, axis)
Result<Term> quantize(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(DType stored, c.dtype("out_dtype", DType::i(8)));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  return stored_result(c, x, stored, axis);
}

/// dequantize(data, input_scale, input_zero_point, axis)
Result<Term> dequantize(TvmCall& c) {
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  return c.term(real_operand(c, "data", "input_scale", "input_zero_point", axis));
}

/// requantize(data, input_scale, input_zero_point, output_scale, output_zero_point, axis, rounding, compute_dtype,
/// out_dtype)
Result<Term> requantize(TvmCall& c) {
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  RELAXC_TRY(DType stored, c.dtype("out_dtype", DType::i(8)));
  RELAXC_TRY(Value * y, real_operand(c, "data", "input_scale", "input_zero_point", axis));
  return stored_result(c, y, stored, axis);
}

/// Returns x in int32 minus its zero point, which may be a vector along an axis. Operators that move elements must come
/// before it, since passes recognize products of bytes by operands of this form.
Result<Value*> centered(TvmCall& c, Value* x, std::string_view zero, int64_t axis) {
  RELAXC_TRY(Value * from, c.tensor(zero));
  RELAXC_TRY(from, spread(c, from, x->shape().size(), axis));
  RELAXC_TRY(from, c.cast(from, DType::i(32)));
  RELAXC_TRY(x, c.cast(x, DType::i(32)));
  return c.op("subtract", {x, from});
}

/// Replaces an operand of a convolution by itself with its dims in the order `wanted`, in int32 minus its zero point.
Status ordered_operand(TvmCall& c, std::string_view data, std::string_view order, const std::string& wanted,
                       std::string_view zero, int64_t axis) {
  RELAXC_TRY(Value * x, c.tensor(data));
  RELAXC_TRY(std::string written, c.text(order, wanted));
  RELAXC_TRY(Ints axes, frontend::layout(c, order, wanted.substr(0, 2), wanted));
  RELAXC_TRY(x, frontend::join_blocks(c, x, order, written));
  if (x->shape().size() != axes.size())
    return c.error(data, Kind::rank_mismatch, "{} takes {} dims, found {}", c.spelled, axes.size(),
                   relax::to_string(x->info));
  RELAXC_TRY(x, c.permute(x, axes));
  RELAXC_TRY(x, centered(c, x, zero, axis));
  c.put(data, Term::of(x));
  c.put(order, Term::of(Term::kString, wanted));
  return Done{};
}

/// conv2d(data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, …): returns the int32 sums.
Result<Term> conv(TvmCall& c) {
  bool transposed = c.name == "nn.conv2d_transpose";
  RELAXC_TRY(std::string given, c.text("data_layout", "NCHW"));
  RELAXC_TRY(std::string result, c.text("out_layout", given));
  RELAXC_DO(ordered_operand(c, "data", "data_layout", "NCHW", "input_zero_point", -1));
  RELAXC_DO(ordered_operand(c, "weight", "kernel_layout", transposed ? "IOHW" : "OIHW", "kernel_zero_point",
                            transposed ? 1 : 0));
  c.put("out_layout", Term::of(Term::kString, result.empty() ? given : result));
  return frontend::find_tvm_operator(c.name)->read(c);
}

/// dense(data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, units), batch_matmul
Result<Term> product(TvmCall& c) {
  RELAXC_TRY(Value * a, c.tensor("data"));
  RELAXC_TRY(Value * b, c.tensor("weight"));
  RELAXC_TRY(bool transpose_a, c.flag("transpose_a", false));
  RELAXC_TRY(bool transpose_b, c.flag("transpose_b", true));
  for (auto [x, transposed] : {std::pair{&a, transpose_a}, std::pair{&b, transpose_b}}) {
    Ints axes((*x)->shape().size());
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
    if (!transposed || axes.size() < 2) continue;
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    RELAXC_TRY(*x, c.permute(*x, axes));
  }
  RELAXC_TRY(a, centered(c, a, "input_zero_point", -1));
  RELAXC_TRY(b, centered(c, b, "kernel_zero_point", -1));
  return c.term(c.op("matmul", {a, b}));
}

/// add(lhs, rhs, lhs_scale, lhs_zero_point, rhs_scale, rhs_zero_point, output_scale, output_zero_point), subtract, mul
Result<Term> binary(TvmCall& c) {
  RELAXC_TRY(int64_t lhs_axis, c.integer("lhs_axis", -1));
  RELAXC_TRY(int64_t rhs_axis, c.integer("rhs_axis", -1));
  RELAXC_TRY(Value * stored, c.tensor("lhs"));
  RELAXC_TRY(Value * a, real_operand(c, "lhs", "lhs_scale", "lhs_zero_point", lhs_axis));
  RELAXC_TRY(Value * b, real_operand(c, "rhs", "rhs_scale", "rhs_zero_point", rhs_axis));
  RELAXC_TRY(Value * y, c.op(c.own_name(), {a, b}));
  return stored_result(c, y, stored->dtype());
}

/// tanh(data, input_scale, input_zero_point, output_scale, output_zero_point), and other operators of one tensor
Result<Term> unary(TvmCall& c) {
  RELAXC_TRY(Value * stored, c.tensor("data"));
  RELAXC_TRY(Value * x, real_operand(c, "data", "input_scale", "input_zero_point", -1));
  relax::Attrs attrs;
  if (c.has("alpha")) {
    RELAXC_TRY(double alpha, c.real("alpha", 0));
    attrs.set("alpha", alpha);
  }
  if (c.has("axis")) {
    RELAXC_TRY(int64_t axis, c.integer("axis", -1));
    attrs.set("axis", axis);
  }
  RELAXC_TRY(Value * y, c.op(c.own_name(), {x}, std::move(attrs)));
  return stored_result(c, y, stored->dtype());
}

/// avg_pool2d(data, input_scale, input_zero_point, output_scale, output_zero_point, pool_size, …)
Result<Term> pool(TvmCall& c) {
  RELAXC_TRY(Value * stored, c.tensor("data"));
  RELAXC_TRY(Value * x, real_operand(c, "data", "input_scale", "input_zero_point", -1));
  c.put("data", Term::of(x));
  RELAXC_TRY(Term y, frontend::find_tvm_operator(c.name)->read(c));
  return stored_result(c, y.value, stored->dtype());
}

/// concatenate(data, input_scales, input_zero_points, output_scale, output_zero_point, axis)
Result<Term> concatenate(TvmCall& c) {
  RELAXC_TRY(std::vector<Value*> tensors, c.values("data"));
  RELAXC_TRY(std::vector<Value*> scales, c.values("input_scales"));
  RELAXC_TRY(std::vector<Value*> zeros, c.values("input_zero_points"));
  RELAXC_TRY(int64_t axis, c.integer("axis", 0));
  if (tensors.empty() || scales.size() != tensors.size() || zeros.size() != tensors.size())
    return c.error("input_scales", Kind::wrong_arity, "{} tensors, {} scales and {} zero points", tensors.size(),
                   scales.size(), zeros.size());
  DType stored = tensors[0]->dtype();
  for (size_t i = 0; i < tensors.size(); ++i) {
    RELAXC_TRY(tensors[i], dequantized(c, tensors[i], scales[i], zeros[i], -1));
  }
  RELAXC_TRY(Value * y, c.op("concat", std::move(tensors), {{"axis", axis}}));
  return stored_result(c, y, stored);
}

constexpr std::string_view kConv =
    "data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, strides, padding, dilation, groups, "
    "channels, kernel_size, data_layout, kernel_layout, out_layout, out_dtype=int32";
constexpr std::string_view kTransposed =
    "data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, channels, kernel_size, strides, "
    "output_padding, padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype=int32";
constexpr std::string_view kDense =
    "data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, units, out_dtype";
constexpr std::string_view kBatch =
    "x:data, y:weight, x_zero_point:input_zero_point, y_zero_point:kernel_zero_point, x_scale, y_scale, out_dtype, "
    "transpose_a=False, transpose_b=True";
constexpr std::string_view kBinary =
    "lhs, rhs, lhs_scale, lhs_zero_point, rhs_scale, rhs_zero_point, output_scale, output_zero_point, lhs_axis, "
    "rhs_axis";
constexpr std::string_view kUnary = "data, input_scale, input_zero_point, output_scale, output_zero_point";

constexpr Row kRows[] = {
    {"qnn.quantize", "data, output_scale, output_zero_point, out_dtype, axis", {}, quantize},
    {"qnn.dequantize", "data, input_scale, input_zero_point, axis", {}, dequantize},
    {"qnn.requantize",
     "data, input_scale, input_zero_point, output_scale, output_zero_point, axis, rounding, compute_dtype, out_dtype",
     {},
     requantize,
     "rounds halves to even"},
    {"qnn.conv2d", kConv, "nn.conv2d", conv},
    {"qnn.conv2d_transpose", kTransposed, "nn.conv2d_transpose", conv},
    {"qnn.dense", kDense, {}, product},
    {"qnn.batch_matmul", kBatch, {}, product},
    {"qnn.add", kBinary, "add", binary},
    {"qnn.subtract", kBinary, "subtract", binary},
    {"qnn.mul", kBinary, "multiply", binary},
    {"qnn.concatenate",
     "data, input_scales, input_zero_points, output_scale, output_zero_point, axis",
     {},
     concatenate},
    {"qnn.abs", kUnary, "abs", unary},
    {"qnn.erf", kUnary, "erf", unary},
    {"qnn.exp", kUnary, "exp", unary},
    {"qnn.hardswish", kUnary, "nn.hard_swish", unary},
    {"qnn.log", kUnary, "log", unary},
    {"qnn.rsqrt", kUnary, "rsqrt", unary},
    {"qnn.sigmoid", kUnary, "sigmoid", unary},
    {"qnn.sqrt", kUnary, "sqrt", unary},
    {"qnn.tanh", kUnary, "tanh", unary},
    {"qnn.leaky_relu", "data, input_scale, input_zero_point, output_scale, output_zero_point, alpha=0.25",
     "nn.leaky_relu", unary},
    {"qnn.softmax", "data, input_scale, input_zero_point, output_scale, output_zero_point, axis=-1", "nn.softmax",
     unary},
    {"qnn.avg_pool2d",
     "data, input_scale, input_zero_point, output_scale, output_zero_point, pool_size, strides, dilation, padding, "
     "layout, out_layout, ceil_mode, count_include_pad",
     "nn.avg_pool2d", pool},
};

}  // namespace
}  // namespace relaxc::relay::qnn_family

RELAXC_RELAY_OPERATORS(qnn, kRows)
