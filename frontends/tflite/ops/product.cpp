// product.cpp: matrix products.
#include "frontends/tflite/fixed_point.h"
#include "frontends/tflite/operators.h"
#include "frontends/tflite/windows.h"

namespace relaxc::tflite::product_family {
namespace {

/// Returns the sums of x [rows, inputs] times an integer filter [outputs, inputs]. For bytes that is a matmul; wider
/// types use a convolution with a window of one element.
Value* integer_product(Node& node, Value* x, Value* filter, DType sums) {
  bool bytes = x != nullptr && filter != nullptr && x->dtype().bits == 8 && filter->dtype().bits == 8;
  filter = node.permute(filter, {1, 0});
  if (bytes && sums == DType::i(32)) return node.call("matmul", {x, filter}, {{"out_dtype", std::string("int32")}});
  Ints rows = node.dims(x), columns = node.dims(filter);
  if (!node.ok()) return nullptr;
  Value* y = node.call("nn.conv_integer",
                       {node.reshape(x, {1, rows[0], rows[1]}), node.reshape(filter, {1, columns[0], columns[1]})},
                       {{"out_dtype", sums}});
  return node.reshape(y, {rows[0], columns[1]});
}

struct FullyConnected {
  Ints rows;    ///< shape of x as a matrix: [rows, inputs]
  Ints result;  ///< the output's dims
};

std::optional<FullyConnected> shapes_of(Node& node, Value* x, Value* filter, bool keep_dims) {
  if (!node.expect_rank(filter, 2, "the filter")) return std::nullopt;
  Ints data = node.dims(x), weights = node.dims(filter);
  int64_t elements = 1;
  for (int64_t extent : data) elements *= extent;
  if (!node.ok()) return std::nullopt;
  if (weights[1] < 1 || elements % weights[1] != 0 || (keep_dims && (data.empty() || data.back() != weights[1]))) {
    node.error(Kind::shape_mismatch, "a filter of [{}] for data of [{}]", fmt::join(weights, ", "),
               fmt::join(data, ", "));
    return std::nullopt;
  }
  FullyConnected shapes{{elements / weights[1], weights[1]}, {elements / weights[1], weights[0]}};
  if (keep_dims) shapes.result = data, shapes.result.back() = weights[0];
  return shapes;
}

Status quantized_fully_connected(Node& node, Value* x, Value* filter, const FullyConnected& shapes) {
  const auto& o = node.options<tflite_schema::FullyConnectedOptions>();
  ProductSum product;
  bool per_tensor = node.in(1).quantization.scale.size() == 1;
  product.filter_zero = per_tensor ? node.zero_of(node.in(1)) : 0;
  DType sums = sums_dtype(node.type(), o.quantized_bias_type());
  std::vector<double> scales = product_scales(node, product);
  Value* weights = centered(node, filter, product.filter_zero);
  Value* sum = integer_product(node, node.reshape(x, shapes.rows), weights, sums);
  Value* bias = folded_bias(node, product, 2, sums);
  if (!node.ok()) return node.status();
  if (bias != nullptr) sum = node.add(sum, bias);
  // Of uint8, TFLite has a second kernel, with results of 16 bits.
  DType stored =
      node.type() == TensorType::UINT8 ? node.result_type({TensorType::UINT8, TensorType::INT16}) : node.stored_type();
  Value* y = node.store(FixedPoint(node).scale_whole(sum, scales),
                        stored_output(node, stored, o.fused_activation_function(), sums));
  return node.set(node.reshape(y, shapes.result));
}

Status fully_connected(Node& node) {
  const auto& o = node.options<tflite_schema::FullyConnectedOptions>();
  if (o.weights_format() != tflite_schema::FullyConnectedOptionsWeightsFormat::DEFAULT)
    return node.error(Kind::unsupported, "shuffled weights are not supported");
  Value *x = node.input(0), *filter = node.input(1);
  std::optional<FullyConnected> shapes = shapes_of(node, x, filter, o.keep_num_dims());
  if (!shapes) return node.status();
  TensorType type = node.in(1).type;
  if (node.type() == TensorType::FLOAT32) {
    Value* weights = float_weights(node, 1);
    Value* y = node.call("matmul", {node.reshape(x, shapes->rows), node.permute(weights, {1, 0})});
    if (node.has(2)) y = node.add(y, node.input(2));
    return node.set(node.reshape(node.activate(y, o.fused_activation_function()), shapes->result));
  }
  bool fits = node.type() == TensorType::UINT8 ? type == TensorType::UINT8
                                               : type == TensorType::INT8 || type == TensorType::INT4;
  if (!fits)
    return node.error(Kind::dtype_mismatch, "data of {} by a filter of {} is not supported", type_name(node.type()),
                      type_name(type));
  return quantized_fully_connected(node, x, filter, *shapes);
}

/// Returns x with its last two dims exchanged.
Value* transposed(Node& node, Value* x) {
  Ints axes(static_cast<size_t>(node.rank(x)));
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  if (axes.size() >= 2) std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return node.permute(x, axes);
}

/// Subtracts zero points before the product, since neither operand is a constant whose sums could be precomputed.
Value* data_product(Node& node, Value* a, Value* b, DType sums) {
  auto less_zero = [&](Value* x, size_t i) {
    return node.add(node.as(x, sums), static_cast<double>(-node.zero_of(node.in(i))));
  };
  return node.call("matmul", {less_zero(a, 0), less_zero(b, 1)});
}

Status batch_matmul(Node& node) {
  const auto& o = node.options<tflite_schema::BatchMatMulOptions>();
  Value *a = node.input(0), *b = node.input(1);
  if (!node.ok()) return node.status();
  if (node.rank(a) < 2 || node.rank(b) < 2)
    return node.error(Kind::rank_mismatch, "the operands must be matrices, found {} and {} dims", node.rank(a),
                      node.rank(b));
  if (o.adj_x()) a = transposed(node, a);
  if (o.adj_y()) b = transposed(node, b);
  if (node.type() == TensorType::FLOAT32) {
    b = node.type(1) == TensorType::FLOAT32 ? b : nullptr;
    if (b == nullptr)
      return node.error(Kind::dtype_mismatch, "float data by {} is not supported", type_name(node.type(1)));
    return node.set(node.call("matmul", {a, b}));
  }
  if (node.type(1) != node.type()) return node.error(Kind::dtype_mismatch, "operands of two types");
  if (node.type() == TensorType::INT32) return node.set(node.call("matmul", {a, b}));
  DType sums = DType::i(node.type() == TensorType::INT16 ? 64 : 32);
  ProductSum product;
  product.in_float = true;
  std::vector<Multiplier> multipliers = product_multipliers(node, product);
  if (multipliers.size() != 1) return node.error(Kind::unsupported, "more than one scale is not supported");
  Value* sum = data_product(node, a, b, sums);
  return node.set(
      node.scale(sum, multipliers[0], stored_output(node, node.stored_type(), Node::Activation::NONE, sums)));
}

constexpr Row kRows[] = {
    {.code = BuiltinOperator::FULLY_CONNECTED,
     .convert = fully_connected,
     .min_inputs = 2,
     .max_inputs = 3,
     .types = kF32 | kQuantized,
     .rounding = "whole",
     .note = "8-bit filters of float data are dequantized; only weights in the default format"},
    {.code = BuiltinOperator::BATCH_MATMUL,
     .convert = batch_matmul,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kF32 | kI8 | kI16 | kI32,
     .rounding = "double; int16: reduced, once",
     .note = "operands must have one type"},
};

}  // namespace
}  // namespace relaxc::tflite::product_family

RELAXC_TFLITE_OPERATORS(product, kRows)
