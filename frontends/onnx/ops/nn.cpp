// nn.cpp: matrix products, softmax, normalization and global pools.
#include <numeric>

#include "frontends/onnx/fold.h"

namespace relaxc::frontend::nn_family {
namespace {

using Ints = std::vector<int64_t>;

Status matmul(Node& node) {
  RELAXC_TRY(Value * a, node.input(0));
  RELAXC_TRY(Value * b, node.input(1));
  return node.set(0, node.call("matmul", {a, b}));
}

/// Computes alpha * A' * B' + beta * C.
Status gemm(Node& node) {
  RELAXC_TRY(Value * a, node.input(0));
  RELAXC_TRY(Value * b, node.input(1));
  RELAXC_TRY(Value * c, node.optional_input(2));
  for (Value* matrix : {a, b})
    if (matrix->shape().size() != 2)
      return node.error(Kind::rank_mismatch, "its operands must be matrices, found {}", relax::to_string(matrix->info));
  if (node.int_attr("transA", 0) != 0) {
    RELAXC_TRY(a, node.call("permute_dims", {a}, {{"axes", Ints{1, 0}}}));
  }
  if (node.int_attr("transB", 0) != 0) {
    RELAXC_TRY(b, node.call("permute_dims", {b}, {{"axes", Ints{1, 0}}}));
  }
  double alpha = node.float_attr("alpha", 1), beta = node.float_attr("beta", 1);
  RELAXC_TRY(Value * y, node.call("matmul", {a, b}));
  if (alpha != 1) {
    RELAXC_TRY(y, node.call("multiply", {y, node.scalar(y->dtype(), alpha)}));
  }
  if (c == nullptr || beta == 0) return node.set(0, y);
  if (beta != 1) {
    RELAXC_TRY(c, node.call("multiply", {c, node.scalar(c->dtype(), beta)}));
  }
  // The attribute `broadcast` of opsets before 7 is not read: shapes that agree broadcast in any case.
  return node.set(0, node.call("add", {y, c}));
}

/// Converts a global pool to a reduction over the spatial dims.
template <const OpName& Name>
Status global_pool(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  if (x->shape().size() < 3)
    return node.error(Kind::rank_mismatch, "the input must have 3 dims or more, found {}", relax::to_string(x->info));
  Ints axes(x->shape().size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return node.set(0, node.call(Name, {x}, {{"axis", axes}, {"keepdims", true}}));
}
constexpr OpName kMean = "mean", kMax = "max";

/// Computes the p-norm over the spatial dims. Before opset 2, p was a float.
Status global_lp_pool(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  double p = node.opset < 2 ? node.float_attr("p", 2) : static_cast<double>(node.int_attr("p", 2));
  if (x->shape().size() < 3 || p <= 0)
    return node.error(Kind::rank_mismatch, "it takes 3 dims or more and a positive p, found {} and {}",
                      relax::to_string(x->info), p);
  Ints axes(x->shape().size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  DType dtype = x->dtype();
  RELAXC_TRY(Value * powers, node.call("abs", {x}));
  RELAXC_TRY(powers, node.call("power", {powers, node.scalar(dtype, p)}));
  RELAXC_TRY(Value * sum, node.call("sum", {powers}, {{"axis", axes}, {"keepdims", true}}));
  return node.set(0, node.call("power", {sum, node.scalar(dtype, 1 / p)}));
}

/// Converts Softmax and its like. Before opset 13, they work on the rows of [dims before axis, dims from axis on].
template <const OpName& Name>
Status softmax(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  int64_t rank = static_cast<int64_t>(x->shape().size());
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", node.opset < 13 ? 1 : -1), rank));
  if (node.opset >= 13 || axis == rank - 1) return node.set(0, node.call(Name, {x}, {{"axis", axis}}));
  std::vector<Expr> dims = x->shape(), rows(dims.begin(), dims.begin() + axis);
  Expr columns = node.index(1);
  for (size_t i = static_cast<size_t>(axis); i < dims.size(); ++i) columns = columns * dims[i];
  rows.push_back(node.simplify(columns));
  RELAXC_TRY(Value * matrix, reshape(node, x, std::move(rows)));
  RELAXC_TRY(Value * y, node.call(Name, {matrix}, {{"axis", axis}}));
  return node.set(0, reshape(node, y, std::move(dims)));
}
constexpr OpName kSoftmax = "nn.softmax", kLogSoftmax = "nn.log_softmax", kHardmax = "nn.hardmax";

Attrs epsilon(Node& node) {
  return {{"epsilon", node.float_attr("epsilon", 1e-5)}};
}

/// Normalizes by the mean and variance of the batch, and sets the running ones, which move towards these.
Status batch_norm_training(Node& node, std::vector<Value*> operands) {
  Value* x = operands[0];
  Ints axes;
  for (size_t i = 0; i < x->shape().size(); ++i)
    if (i != 1) axes.push_back(static_cast<int64_t>(i));
  DType dtype = operands[3]->dtype();
  double momentum = node.float_attr("momentum", 0.9);
  RELAXC_TRY(Value * wide, astype(node, x, dtype));
  constexpr OpName kStatistics[] = {"mean", "variance"};
  for (size_t i = 0; i < 2; ++i) {
    RELAXC_TRY(Value * now, node.call(kStatistics[i], {wide}, {{"axis", axes}, {"keepdims", false}}));
    RELAXC_TRY(Value * old, node.call("multiply", {operands[3 + i], node.scalar(dtype, momentum)}));
    RELAXC_TRY(Value * moved, node.call("multiply", {now, node.scalar(dtype, 1 - momentum)}));
    RELAXC_TRY(moved, node.call("add", {old, moved}));
    RELAXC_DO(node.set(1 + i, moved));
    operands[3 + i] = now;
  }
  return node.set(0, node.call("nn.batch_norm", operands, epsilon(node)));
}

/// Normalizes by statistics for every element of a sample, with its shape, which opsets before 9 allow.
Status batch_norm_of_elements(Node& node, const std::vector<Value*>& operands) {
  Value* x = operands[0];
  RELAXC_TRY(Value * variance,
             node.call("add", {operands[4], node.scalar(operands[4]->dtype(), node.float_attr("epsilon", 1e-5))}));
  RELAXC_TRY(Value * deviation, node.call("sqrt", {variance}));
  RELAXC_TRY(Value * factor, node.call("divide", {operands[1], deviation}));
  RELAXC_TRY(Value * centered, node.call("subtract", {x, operands[3]}));
  RELAXC_TRY(Value * y, node.call("multiply", {centered, factor}));
  RELAXC_TRY(y, node.call("add", {y, operands[2]}));
  return node.set(0, with_shape(node, y, x->shape(), "the shape of its statistics"));
}

/// Converts BatchNormalization, where float16 data may come with float32 statistics.
Status batch_norm(Node& node) {
  RELAXC_TRY(std::vector<Value*> operands, node.all_inputs());
  if (operands.size() != 5) return node.error(Kind::wrong_arity, "it takes 5 inputs, found {}", operands.size());
  if (node.opset >= 14 && node.int_attr("training_mode", 0) != 0) return batch_norm_training(node, std::move(operands));
  if (node.opset < 9 && node.int_attr("spatial", 1) == 0) return batch_norm_of_elements(node, operands);
  return node.set(0, node.call("nn.batch_norm", operands, epsilon(node)));
}

Result<Ints> axes_from(Node& node, Value* x) {
  int64_t rank = static_cast<int64_t>(x->shape().size());
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", -1), rank));
  Ints axes(static_cast<size_t>(rank - axis));
  std::iota(axes.begin(), axes.end(), axis);
  return axes;
}

/// Sets outputs 1 and 2: the mean, and 1 / sqrt(variance + epsilon), with the reduced axes kept as dims of 1.
Status moments(Node& node, Value* x, const Ints& axes) {
  Attrs over{{"axis", axes}, {"keepdims", true}};
  RELAXC_TRY(x, astype(node, x, x->dtype().bits < 32 ? DType::f(32) : x->dtype()));
  RELAXC_TRY(Value * mean, node.call("mean", {x}, over));
  RELAXC_TRY(Value * centered, node.call("subtract", {x, mean}));
  RELAXC_TRY(Value * squares, node.call("square", {centered}));
  RELAXC_TRY(Value * variance, node.call("mean", {squares}, over));
  RELAXC_TRY(Value * shifted, node.call("add", {variance, node.scalar(x->dtype(), node.float_attr("epsilon", 1e-5))}));
  RELAXC_TRY(Value * deviation, node.call("sqrt", {shifted}));
  RELAXC_DO(node.set(1, mean));
  return node.set(2, node.call("divide", {node.scalar(x->dtype(), 1), deviation}));
}

Status layer_norm(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * scale, node.input(1));
  RELAXC_TRY(Value * bias, node.optional_input(2));
  RELAXC_TRY(Ints axes, axes_from(node, x));
  Attrs attrs = epsilon(node);
  attrs.set("axes", axes);
  RELAXC_DO(node.set(0, node.call("nn.layer_norm", {x, scale, bias}, std::move(attrs))));
  if (!node.wants(1) && !node.wants(2)) return Done{};
  return moments(node, x, axes);
}

Status rms_norm(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * scale, node.input(1));
  Attrs attrs = epsilon(node);
  RELAXC_TRY(Ints axes, axes_from(node, x));
  attrs.set("axes", std::move(axes));
  return node.set(0, node.call("nn.rms_norm", {x, scale}, std::move(attrs)));
}

Status instance_norm(Node& node) {
  RELAXC_TRY(std::vector<Value*> operands, node.all_inputs());
  if (operands.size() != 3) return node.error(Kind::wrong_arity, "it takes 3 inputs, found {}", operands.size());
  return node.set(0, node.call("nn.instance_norm", operands, epsilon(node)));
}

/// Converts GroupNormalization: scale and bias are per group before opset 21, per channel since.
Status group_norm(Node& node) {
  RELAXC_TRY(std::vector<Value*> operands, node.all_inputs());
  if (operands.size() != 3) return node.error(Kind::wrong_arity, "it takes 3 inputs, found {}", operands.size());
  int64_t groups = node.int_attr("num_groups", 0);
  if (operands[0]->shape().size() < 2 || groups < 1)
    return node.error(Kind::invalid_attribute, "num_groups {} of {}", groups, relax::to_string(operands[0]->info));
  Expr channels = operands[0]->shape()[1], each = node.simplify(arith::floordiv(channels, groups));
  if (node.opset < 21 && !each.is_constant(1))
    for (size_t i = 1; i < 3; ++i) {
      RELAXC_TRY(operands[i], reshape(node, operands[i], {node.index(groups), node.index(1)}));
      RELAXC_TRY(operands[i], node.call("broadcast_to", {operands[i], node.shape({node.index(groups), each})}));
      RELAXC_TRY(operands[i], reshape(node, operands[i], {channels}));
    }
  Attrs attrs = epsilon(node);
  attrs.set("num_groups", groups);
  return node.set(0, node.call("nn.group_norm", operands, std::move(attrs)));
}

/// Converts local response normalization over channels.
Status lrn(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  return node.set(0, node.call("nn.lrn", {x},
                               {{"size", node.int_attr("size", 1)},
                                {"alpha", node.float_attr("alpha", 1e-4)},
                                {"beta", node.float_attr("beta", 0.75)},
                                {"bias", node.float_attr("bias", 1)}}));
}

Status einsum(Node& node) {
  RELAXC_TRY(std::vector<Value*> operands, node.all_inputs());
  return node.set(0, node.call("einsum", operands, {{"equation", node.string_attr("equation", "")}}));
}

constexpr Converter kRows[] = {
    {.name = "MatMul", .convert = matmul},
    {.name = "Gemm", .convert = gemm},
    {.name = "Einsum", .convert = einsum},
    {.name = "GlobalAveragePool", .convert = global_pool<kMean>},
    {.name = "GlobalLpPool", .convert = global_lp_pool},
    {.name = "GlobalMaxPool", .convert = global_pool<kMax>},
    {.name = "Softmax", .convert = softmax<kSoftmax>},
    {.name = "LogSoftmax", .convert = softmax<kLogSoftmax>},
    {.name = "Hardmax", .convert = softmax<kHardmax>},
    {.name = "BatchNormalization", .convert = batch_norm, .note = "training mode only since opset 14"},
    {.name = "LayerNormalization", .convert = layer_norm},
    {.name = "InstanceNormalization", .convert = instance_norm},
    {.name = "GroupNormalization", .convert = group_norm},
    {.name = "RMSNormalization", .convert = rms_norm},
    {.name = "LRN", .convert = lrn},
};

}  // namespace

}  // namespace relaxc::frontend::nn_family

RELAXC_CONVERTERS(nn, kRows)
