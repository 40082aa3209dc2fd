// contrib_quantize.cpp: the operators of ONNX Runtime's quantizer: arithmetic, activations and pools on quantized
// tensors, and products of integers.
//
// An operator on quantized tensors is its float form between a dequantization and a quantization; sums of products are
// computed in integers, which is exact. Operands are triples: tensor, scale, zero point.
#include "frontends/onnx/converter.h"
#include "frontends/onnx/quantized.h"

namespace relaxc::frontend::contrib_quantize_family {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr DType kF32 = DType::f(32), kI32 = DType::i(32);

/// Returns input `at` as floats; inputs `at` + 1 and `at` + 2 are its scale and zero point.
Value* operand(ConversionBuilder& c, size_t at) {
  Value *x = c.input(at), *scale = c.input(at + 1), *zero = c.optional(at + 2);
  return dequantized(c, x, scale, zero);
}

/// Sets the output, quantized by the scale and zero point of inputs `at` and `at` + 1. Without a zero point it is 0,
/// and the dtype is that of input `like`.
Status set_quantized(ConversionBuilder& c, Value* y, size_t at, size_t like) {
  Value *scale = c.input(at), *zero = c.optional(at + 1), *model = c.input(like);
  return c.ok() ? c.set(0, quantized(c, y, scale, zero, zero == nullptr ? model->dtype() : zero->dtype())) : c.failed();
}

template <const OpName& Op>
Status binary(Node& node) {
  ConversionBuilder c(node);
  Value *a = operand(c, 0), *b = operand(c, 3);
  return set_quantized(c, c.call(Op, {a, b}), 6, 0);
}
constexpr OpName kAdd = "add", kMul = "multiply";

Status sigmoid(Node& node) {
  ConversionBuilder c(node);
  return set_quantized(c, c.call("sigmoid", {operand(c, 0)}), 3, 0);
}

Status leaky_relu(Node& node) {
  ConversionBuilder c(node);
  Value* y = c.call("nn.leaky_relu", {operand(c, 0)}, {{"alpha", node.float_attr("alpha", 0.01F)}});
  return set_quantized(c, y, 3, 0);
}

/// Converts softmax; if the attribute `axis` is absent, it is the last axis in every opset.
Status softmax(Node& node) {
  ConversionBuilder c(node);
  int64_t opset = node.has_attr("axis") ? node.int_attr("opset", 13) : 13;
  return set_quantized(c, c.onnx("Softmax", opset, {operand(c, 0)}), 3, 0);
}

/// Converts a pool by its operator of ai.onnx, in either layout.
template <const char* Op>
Status pool(Node& node) {
  ConversionBuilder c(node);
  bool last = node.int_attr("channels_last", 0) != 0;
  Value* x = operand(c, 0);
  Value* y = c.onnx(Op, 19, {last ? c.channels_first(x) : x});
  return set_quantized(c, last ? c.channels_last(y) : y, 3, 0);
}
constexpr char kAveragePool[] = "AveragePool", kGlobalAveragePool[] = "GlobalAveragePool";

Status reduce_mean(Node& node) {
  ConversionBuilder c(node);
  return set_quantized(c, c.onnx("ReduceMean", 13, {operand(c, 0)}), 3, 0);
}

Status where(Node& node) {
  ConversionBuilder c(node);
  Value* condition = c.input(0);
  Value *x = operand(c, 1), *y = operand(c, 4);
  return set_quantized(c, c.where(condition, x, y), 7, 1);
}

/// Converts concat: the result's scale and zero point come first, then triples of operand, scale and zero point.
Status concat(Node& node) {
  ConversionBuilder c(node);
  if (node.inputs() < 5 || (node.inputs() - 2) % 3 != 0)
    return node.error(Kind::wrong_arity, "it takes 2 inputs and 3 for each tensor, found {}", node.inputs());
  std::vector<Value*> parts;
  for (size_t i = 2; i < node.inputs(); i += 3) parts.push_back(operand(c, i));
  if (!c.ok()) return c.failed();
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", 0), rank_of(parts[0])));
  return set_quantized(c, c.concat(parts, axis), 0, 2);
}

/// Converts QLinearConv, with the channels of x and y last if asked for; the weight's layout is that of ai.onnx.
Status convolution(Node& node) {
  ConversionBuilder c(node);
  bool last = node.int_attr("channels_last", 0) != 0;
  std::vector<Value*> inputs{c.input(0)};
  if (last) inputs[0] = c.channels_first(inputs[0]);
  for (size_t i = 1; i < node.inputs(); ++i)
    if (i < 8 || node.has(i)) inputs.push_back(c.input(i));
  Value* y = c.onnx("QLinearConv", 10, inputs);
  return c.set(0, last ? c.channels_last(y) : y);
}

/// Takes the maximum of the integers themselves, which needs no scale.
Status max_pool_last(Node& node) {
  ConversionBuilder c(node);
  return c.set(0, c.channels_last(c.onnx("MaxPool", 12, {c.channels_first(c.input(0))})));
}

/// Returns a matrix of Gemm, transposed if the attribute says so.
Value* matrix(ConversionBuilder& c, size_t at, const char* transposed) {
  Value* x = c.input(at);
  return c.ok() && c.node.int_attr(transposed, 0) != 0 ? c.permute(x, {1, 0}) : x;
}

/// Computes alpha * a_scale * b_scale * ((A - zero) (B - zero) + C); quantizes it if there is a scale for it.
Status gemm(Node& node) {
  ConversionBuilder c(node);
  Value *a = matrix(c, 0, "transA"), *b = matrix(c, 3, "transB"), *addend = c.optional(6), *y_scale = c.optional(7);
  Value* weights = centered(c, b, c.optional(5), -1);
  Value* sum = c.matmul(centered(c, a, c.optional(2), -2), weights);
  sum = c.as(c.plus(sum, addend), kF32);
  Value* scale = c.multiply(c.multiply(c.input(1), c.input(4)), node.float_attr("alpha", 1));
  Value* y = c.multiply(sum, scale);
  return y_scale == nullptr ? c.set(0, y) : set_quantized(c, y, 7, 0);
}

/// Returns a zero point or scale per row of a matrix as a column.
Value* by_row(ConversionBuilder& c, Value* x) {
  if (!c.ok() || x == nullptr || rank_of(x) != 1 || x->shape().at(0).is_constant(1)) return x;
  return c.call("expand_dims", {x}, {{"axis", Ints{1}}});
}

/// Computes a_scale * b_scale * (A - zero) (B - zero) + bias.
Status matmul_to_float(Node& node) {
  ConversionBuilder c(node);
  Value *a = c.input(0), *b = c.input(1), *bias = c.optional(6);
  Value* weights = centered(c, b, c.optional(5), -1);
  Value* sum = c.matmul(centered(c, a, c.optional(4), -2), weights);
  Value* scale = c.multiply(by_row(c, c.input(2)), c.input(3));
  if (!c.ok()) return c.failed();
  return c.set(0, c.plus(c.multiply(c.as(sum, scale->dtype()), scale), bias));
}

/// Computes the same after quantizing A by its own range.
Status dynamic_matmul(Node& node) {
  ConversionBuilder c(node);
  Value *b = c.input(1), *b_scale = c.input(2), *b_zero = c.optional(3), *bias = c.optional(4);
  Quantization a = quantized_by_range(c, c.input(0));
  Value* weights = centered(c, b, b_zero, -1);
  Value* sum = c.as(c.matmul(centered(c, a.y, a.zero), weights), kF32);
  return c.set(0, c.plus(c.multiply(sum, c.multiply(a.scale, b_scale)), bias));
}

Status matmul_wide(Node& node) {
  ConversionBuilder c(node);
  Value* weights = c.as(c.input(1), kI32);
  return c.set(0, c.matmul(c.as(c.input(0), kI32), weights));
}

Status multiply_integers(Node& node) {
  ConversionBuilder c(node);
  Value *a = centered(c, c.input(0), c.optional(1)), *b = centered(c, c.input(2), c.optional(3));
  return c.set(0, c.multiply(a, b));
}

Status sum_integers(Node& node) {
  ConversionBuilder c(node);
  return c.set(0, c.onnx("ReduceSum", 11, {c.as(c.input(0), kI32)}));
}

/// Converts DequantizeLinear: a scalar scale is for all elements, a list is along the axis, as in ai.onnx.
Status dequantize(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *scale = c.input(1), *zero = c.optional(2);
  return c.set(0, dequantized(c, x, scale, zero, node.int_attr("axis", 1)));
}

Status quantize(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *scale = c.input(1), *zero = c.optional(2);
  if (!c.ok()) return c.failed();
  DType dtype = zero == nullptr ? DType::u(8) : zero->dtype();
  return c.set(0, quantized(c, x, scale, zero, dtype, node.int_attr("axis", 1)));
}

/// Returns rows of a quantized table; only the rows that are looked up become floats.
Value* rows(ConversionBuilder& c, size_t table, Value* ids, size_t scale, size_t zero) {
  Value* found = c.call("take", {c.input(table), ids}, {{"axis", int64_t{0}}});
  return dequantized(c, found, c.input(scale), c.input(zero));
}

/// Converts EmbedLayerNormalization with quantized tables, gamma and beta.
Status embed_layer_norm(Node& node) {
  ConversionBuilder c(node);
  Value *ids = c.input(0), *segments = c.optional(1), *mask = c.optional(7);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, ids, 2, "input_ids"));
  Value* placed = rows(c, 3, c.arange(node.index(0), ids->shape().at(1)), 9, 14);
  Value* sum = c.add(rows(c, 2, ids, 8, 13), placed);
  if (segments != nullptr && node.has(4)) sum = c.add(sum, rows(c, 4, segments, 10, 15));
  Value *gamma = dequantized(c, c.input(5), c.input(11), c.input(16)),
        *beta = dequantized(c, c.input(6), c.input(12), c.input(17));
  Attrs attrs{{"axes", Ints{-1}}, {"epsilon", node.float_attr("epsilon", 1e-12F)}};
  RELAXC_DO(c.set(0, c.call("nn.layer_norm", {sum, gamma, beta}, std::move(attrs))));
  if (!node.wants(1)) return Done{};
  if (mask == nullptr) return c.set(1, c.call("zeros", {node.shape({ids->shape().at(0)})}, {{"dtype", kI32}}));
  Value* word = c.as(c.call("equal", {mask, c.like(mask, 1)}), kI32);
  return c.set(1, c.reduce("sum", word, Ints{1}, false));
}

constexpr Converter kRows[] = {
    {.name = "QLinearAdd", .convert = binary<kAdd>, .domain = kMicrosoft},
    {.name = "QLinearMul", .convert = binary<kMul>, .domain = kMicrosoft},
    {.name = "QLinearSigmoid", .convert = sigmoid, .domain = kMicrosoft},
    {.name = "QLinearLeakyRelu", .convert = leaky_relu, .domain = kMicrosoft},
    {.name = "QLinearSoftmax", .convert = softmax, .domain = kMicrosoft},
    {.name = "QLinearAveragePool",
     .convert = pool<kAveragePool>,
     .note = "what a window reads beyond the padding does not count, as in AveragePool since opset 19",
     .domain = kMicrosoft},
    {.name = "QLinearGlobalAveragePool", .convert = pool<kGlobalAveragePool>, .domain = kMicrosoft},
    {.name = "QLinearReduceMean", .convert = reduce_mean, .domain = kMicrosoft},
    {.name = "QLinearWhere", .convert = where, .domain = kMicrosoft},
    {.name = "QLinearConcat", .convert = concat, .domain = kMicrosoft},
    {.name = "QLinearConv", .convert = convolution, .domain = kMicrosoft},
    {.name = "NhwcMaxPool", .convert = max_pool_last, .domain = kMicrosoft},
    {.name = "QGemm", .convert = gemm, .domain = kMicrosoft},
    {.name = "MatMulIntegerToFloat", .convert = matmul_to_float, .domain = kMicrosoft},
    {.name = "DynamicQuantizeMatMul", .convert = dynamic_matmul, .domain = kMicrosoft},
    {.name = "MatMulInteger16", .convert = matmul_wide, .domain = kMicrosoft},
    {.name = "MulInteger", .convert = multiply_integers, .domain = kMicrosoft},
    {.name = "ReduceSumInteger", .convert = sum_integers, .domain = kMicrosoft},
    {.name = "DequantizeLinear", .convert = dequantize, .domain = kMicrosoft},
    {.name = "QuantizeLinear", .convert = quantize, .domain = kMicrosoft},
    {.name = "QEmbedLayerNormalization", .convert = embed_layer_norm, .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend::contrib_quantize_family

RELAXC_CONVERTERS(contrib_quantize, kRows)
