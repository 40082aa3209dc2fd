// norm.cpp: normalizations, as expansions into reductions and elementwise operators.
//
// batch_norm with known statistics is one multiply and add for each element: scale = gamma / sqrt(variance + epsilon)
// and shift = beta - mean * scale become constants, and an epilogue of the convolution before applies them. The others
// compute their statistics: the mean, then the mean of the squared distances from it (two passes, because the
// difference of sums of squares loses all digits when the mean is large). Narrow floats are normalized in float32.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/expansion_builder.h"
#include "compiler/ops/gradients/windows.h"

namespace relaxc::ops::norm_family {
namespace {

using relax::GraphBuilder;

constexpr OperandDef kBatch[] = {{"x"}, {"gamma"}, {"beta"}, {"mean"}, {"variance"}};
constexpr OperandDef kLayer[] = {{"x"}, {"gamma", OperandDef::kOptional}, {"beta", OperandDef::kOptional}};
constexpr AttrDef kEpsilon{"epsilon", AttrType::kFloat, false, "1e-5"};
constexpr AttrDef kBatchAttrs[] = {{"axis", AttrType::kInt, false, "1"}, kEpsilon};
constexpr AttrDef kLayerAttrs[] = {{"axes", AttrType::kInts, false, "[-1]"}, kEpsilon};
constexpr AttrDef kGroupAttrs[] = {
    {"num_groups", AttrType::kInt, true}, {"axis", AttrType::kInt, false, "1"}, kEpsilon};
constexpr AttrDef kInstanceAttrs[] = {{"axis", AttrType::kInt, false, "1"}, kEpsilon};
constexpr AttrDef kLrnAttrs[] = {{"size", AttrType::kInt, true},
                                 {"axis", AttrType::kInt, false, "1"},
                                 {"alpha", AttrType::kFloat, false, "1e-4"},
                                 {"beta", AttrType::kFloat, false, "0.75"},
                                 {"bias", AttrType::kFloat, false, "1.0"}};

/// Requires float operands; the result has the shape and dtype of x.
InferResult infer_float(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  for (size_t k = 0; k < c.operands(); ++k) {
    if (!c.has(k)) continue;
    RELAXC_TRY(const TensorInfo* operand, c.tensor(k));
    if (!operand->dtype->is_float())
      return c.error(Kind::dtype_mismatch, "'{}' takes float tensors, found {}", c.op.def->name,
                     to_string(*operand->dtype));
  }
  return one(tensor_info(c.context, *x->shape, *x->dtype));
}

/// Requires that all operands but x are vectors with the extent of `axis`.
InferResult infer_channels(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x->ndim));
  for (size_t k = 1; k < c.operands(); ++k) {
    if (!c.has(k)) continue;
    RELAXC_TRY(const TensorInfo* vector, c.tensor(k));
    if (vector->ndim != 1)
      return c.error(Kind::rank_mismatch, "operand '{}' of '{}' must have one dim, found {}",
                     c.op.def->operands[k].name, c.op.def->name, vector->ndim);
    RELAXC_DO(require_equal(c, (*x->shape)[static_cast<size_t>(axis)], (*vector->shape)[0], "channels"));
  }
  return infer_float(c);
}

/// Reshapes a vector over `axis` so that it broadcasts with a tensor of `rank`.
Value* along_axis(ExpansionBuilder& chain, Value* vector, size_t axis, size_t rank, DType dtype) {
  Value* wide_vector = chain.as(vector, dtype);
  if (wide_vector == nullptr || axis + 1 == rank) return wide_vector;
  Dims shape{vector->shape()[0]};
  shape.resize(rank - axis, vector->shape()[0].context().index(1));
  return chain.reshape(wide_vector, shape);
}

Values expand_batch_norm(GraphBuilder& b, const Op& op) {
  ExpansionBuilder chain(b);
  Value* x = op.operand(0);
  DType dtype = wide(x->dtype()), inner = wide(op.operand(3)->dtype());
  size_t rank = x->shape().size(), axis = axis_of(op.attrs.integer("axis"), rank);
  auto operand = [&](size_t k) { return chain.as(op.operand(k), inner); };
  Value* spread = chain.call("add", {operand(4), chain.number(inner, op.attrs.number("epsilon"))});
  Value* scale = chain.call("divide", {operand(1), chain.call("sqrt", {spread})});
  Value* shift = chain.call("subtract", {operand(2), chain.call("multiply", {operand(3), scale})});
  Value* scaled = chain.call("multiply", {chain.as(x, dtype), along_axis(chain, scale, axis, rank, dtype)});
  Value* y = chain.call("add", {scaled, along_axis(chain, shift, axis, rank, dtype)});
  return chain.done({chain.as(y, x->dtype())});
}

/// Returns x / sqrt(square), where `square` has one element for each row. It multiplies by the reciprocal, since one
/// division for each element would take most of the time.
Value* over_root(ExpansionBuilder& chain, Value* x, Value* square) {
  return chain.call("multiply", {x, chain.call("divide", {chain.number(x->dtype(), 1), chain.call("sqrt", {square})})});
}

/// (x - mean) / sqrt(variance + epsilon) over the axes.
Value* normalized(ExpansionBuilder& chain, Value* x, const std::vector<int64_t>& axes, double epsilon) {
  if (x == nullptr) return nullptr;
  relax::Attrs over{{"axis", axes}, {"keepdims", true}, {"none_is_all", false}};
  Value* distance = chain.call("subtract", {x, chain.call("mean", {x}, over)});
  Value* variance = chain.call("mean", {chain.call("square", {distance})}, over);
  Value* spread = chain.call("add", {variance, chain.number(x->dtype(), epsilon)});
  return over_root(chain, distance, spread);
}

/// Multiplies by gamma and adds beta, if they are given.
Value* scaled(ExpansionBuilder& chain, Value* y, Value* gamma, Value* beta) {
  if (gamma != nullptr) y = chain.call("multiply", {y, gamma});
  return beta != nullptr ? chain.call("add", {y, beta}) : y;
}

InferResult infer_layer_norm(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  if (c.op.attrs.ints("axes").empty()) return c.error(Kind::invalid_attribute, "'{}' over no axes", c.op.def->name);
  RELAXC_DO(all_or_axes(c, c.op.attrs.ints("axes"), x->ndim));
  for (size_t k = 1; k < c.operands(); ++k) {
    if (!c.has(k)) continue;
    RELAXC_TRY(const TensorInfo* operand, c.tensor(k));
    RELAXC_DO(require_broadcast_to(c, *operand->shape, *x->shape));
  }
  return infer_float(c);
}

Values expand_layer_norm(GraphBuilder& b, const Op& op) {
  ExpansionBuilder chain(b);
  Value* x = op.operand(0);
  DType dtype = wide(x->dtype());
  Value* y = normalized(chain, chain.as(x, dtype), op.attrs.ints("axes"), op.attrs.number("epsilon"));
  Value* gamma = chain.as(op.operand(1), dtype);
  Value* beta = chain.as(op.operand(2), dtype);
  return chain.done({chain.as(scaled(chain, y, gamma, beta), x->dtype())});
}

/// x / sqrt(mean(x^2) + epsilon) * gamma
Values expand_rms_norm(GraphBuilder& b, const Op& op) {
  ExpansionBuilder chain(b);
  Value* x = op.operand(0);
  DType dtype = wide(x->dtype());
  Value* wide_x = chain.as(x, dtype);
  relax::Attrs over{{"axis", op.attrs.ints("axes")}, {"keepdims", true}};
  Value* mean = chain.call("mean", {chain.call("square", {wide_x})}, over);
  Value* y = over_root(chain, wide_x, chain.call("add", {mean, chain.number(dtype, op.attrs.number("epsilon"))}));
  Value* gamma = chain.as(op.operand(1), dtype);
  Value* beta = chain.as(op.operand(2), dtype);
  return chain.done({chain.as(scaled(chain, y, gamma, beta), x->dtype())});
}

/// Normalizes each of `groups` runs of channels together with all later axes. Scale and shift are applied before the
/// tensor is reshaped back, so that one kernel computes all of a row.
Values expand_groups(GraphBuilder& b, const Op& op, Expr groups) {
  ExpansionBuilder chain(b);
  Value* x = op.operand(0);
  const Dims& shape = x->shape();
  size_t axis = axis_of(op.attrs.integer("axis"), shape.size());
  DType dtype = wide(x->dtype());
  Dims runs(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
  Dims channels{groups};
  std::vector<int64_t> axes{-1};
  if (!(groups == shape[axis])) {
    channels.push_back(arith::simplify(arith::floordiv(shape[axis], groups)));
    axes.push_back(-2);
  }
  runs.insert(runs.end(), channels.begin(), channels.end());
  runs.push_back(product(b.context(), Dims(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end())));
  channels.push_back(b.context().index(1));
  auto of_channels = [&](Value* vector) {
    return vector == nullptr ? nullptr : chain.reshape(chain.as(vector, dtype), channels);
  };
  Value* y = normalized(chain, chain.reshape(chain.as(x, dtype), runs), axes, op.attrs.number("epsilon"));
  y = scaled(chain, y, of_channels(op.operand(1)), of_channels(op.operand(2)));
  return chain.done({chain.as(chain.reshape(y, shape), x->dtype())});
}

InferResult infer_group_norm(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x->ndim));
  int64_t groups = c.op.attrs.integer("num_groups");
  if (groups < 1) return c.error(Kind::invalid_attribute, "'{}' in {} groups", c.op.def->name, groups);
  Expr channels = (*x->shape)[static_cast<size_t>(axis)];
  RELAXC_DO(c.require(arith::eq(arith::floormod(channels, groups), 0), kDerivedDim, c.context.index(groups), channels,
                      {Finding::kMultiple, "the number of channels"},
                      fmt::format("'{}': {} channels in {} groups", c.op.def->name, to_string(channels), groups)));
  return infer_channels(c);
}

Values expand_group_norm(GraphBuilder& b, const Op& op) {
  return expand_groups(b, op, b.context().index(op.attrs.integer("num_groups")));
}

Values expand_instance_norm(GraphBuilder& b, const Op& op) {
  const Dims& shape = op.operand(0)->shape();
  return expand_groups(b, op, shape[axis_of(op.attrs.integer("axis"), shape.size())]);
}

InferResult infer_lrn(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_DO(c.axis(c.op.attrs.integer("axis"), x->ndim));
  if (c.op.attrs.integer("size") < 1)
    return c.error(Kind::invalid_attribute, "'{}' over {} channels", c.op.def->name, c.op.attrs.integer("size"));
  return infer_float(c);
}

/// Computes x / (bias + alpha / size * sum of squares of adjacent channels) ^ beta.
Stmt define_lrn(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  size_t axis = axis_of(d.attrs().integer("axis"), x->shape.size());
  int64_t size = d.attrs().integer("size"), before = (size - 1) / 2;
  DType dtype = wide(x->dtype);
  auto number = [&](double value) { return d.context().number(dtype, value); };
  BufferRef sum = b.buffer("squares", dtype, x->shape);
  Expr zero = d.context().index(0), dim = x->shape[axis];
  Stmt sums = b.reduce(sum, {d.context().index(size)}, number(0), [&](Expr total, const Indices& i, const Indices& r) {
    Expr at = i[axis] + r[0] - before;
    Indices from = i;
    from[axis] = arith::max(zero, arith::min(at, dim - 1));
    Expr value = widen(b.load(x, from));
    Expr inside = arith::logical_and(arith::le(zero, at), arith::lt(at, dim));
    return total + select(inside, value * value, number(0));
  });
  Stmt result = b.compute(y, [&](const Indices& i) {
    Expr ratio = number(d.attrs().number("alpha") / static_cast<double>(size));
    Expr base = number(d.attrs().number("bias")) + ratio * b.load(sum, i);
    return cast(y->dtype, widen(b.load(x, i)) / call(Intrinsic::k_pow, base, number(d.attrs().number("beta"))));
  });
  return b.alloc(sum, b.seq({sums, result}));
}

constexpr OpDef kOps[] = {
    {.name = "nn.batch_norm",
     .operands = kBatch,
     .attrs = kBatchAttrs,
     .infer = infer_channels,
     .expand = expand_batch_norm,
     .doc = "gamma * (x - mean) / sqrt(variance + epsilon) + beta along axis"},
    {.name = "nn.layer_norm",
     .operands = kLayer,
     .attrs = kLayerAttrs,
     .infer = infer_layer_norm,
     .expand = expand_layer_norm,
     .doc = "x with mean 0 and variance 1 over the axes, times gamma plus beta"},
    {.name = "nn.rms_norm",
     .operands = kLayer,
     .attrs = kLayerAttrs,
     .infer = infer_layer_norm,
     .expand = expand_rms_norm,
     .doc = "x / sqrt(mean(x^2) + epsilon) over the axes, times gamma plus beta"},
    {.name = "nn.group_norm",
     .operands = kLayer,
     .attrs = kGroupAttrs,
     .infer = infer_group_norm,
     .expand = expand_group_norm,
     .doc = "groups of channels with mean 0 and variance 1, times gamma plus beta"},
    {.name = "nn.instance_norm",
     .operands = kLayer,
     .attrs = kInstanceAttrs,
     .infer = infer_channels,
     .expand = expand_instance_norm,
     .doc = "every channel with mean 0 and variance 1, times gamma plus beta"},
    {.name = "nn.lrn",
     .operands = kX,
     .attrs = kLrnAttrs,
     .infer = infer_lrn,
     .define = define_lrn,
     .gradient = derivatives::lrn,
     .doc = "x divided by a power of the sum of squares of neighbouring channels"},
};

}  // namespace
}  // namespace relaxc::ops::norm_family

RELAXC_OPERATORS(norm, kOps)
