// contrib_norm.cpp: the normalizations of ONNX Runtime's optimizer and exporters: over the last dims after adding a
// residual, after an embedding, by groups of channels.
//
// All are a sum and one of our normalizations. The second and third output, used only by training, are the moments.
#include <numeric>

#include "frontends/onnx/conversion_builder.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::contrib_norm_family {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

Ints axes_from(int64_t axis, int64_t rank) {
  Ints axes(static_cast<size_t>(rank - axis));
  std::iota(axes.begin(), axes.end(), axis);
  return axes;
}

/// Returns 1 / sqrt(mean square of `x` over `axes` + epsilon), in float32.
Value* inverse_deviation(ConversionBuilder& c, Value* x, const Ints& axes, double epsilon) {
  Value* mean = c.reduce("mean", c.call("square", {c.as(x, DType::f(32))}), axes);
  return c.call("rsqrt", {c.add(mean, epsilon)});
}

/// A layer normalization: by mean and variance if `centered`, else by the mean square alone (RMS).
struct Norm {
  bool centered;
  double epsilon;

  Value* of(ConversionBuilder& c, Value* x, Value* gamma, Value* beta, Ints axes) const {
    Attrs attrs{{"axes", std::move(axes)}, {"epsilon", epsilon}};
    return c.call(centered ? OpName("nn.layer_norm") : OpName("nn.rms_norm"), {x, gamma, beta}, std::move(attrs));
  }
  Status set_moments(ConversionBuilder& c, Value* x, const Ints& axes) const {
    if (!c.node.wants(1) && !c.node.wants(2)) return Done{};
    Value *wide = c.as(x, DType::f(32)), *mean = c.reduce("mean", wide, axes);
    RELAXC_DO(c.set(1, mean));
    return c.set(2, inverse_deviation(c, centered ? c.subtract(wide, mean) : wide, axes, epsilon));
  }
};

/// Normalizes the sum of input, skip and bias; the skip may broadcast over the batch.
template <bool Centered>
Status skip_norm(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *skip = c.input(1), *gamma = c.input(2);
  Value *beta = Centered ? c.optional(3) : nullptr, *bias = c.optional(Centered ? 4 : 3);
  Value* sum = c.plus(c.add(x, skip), bias);
  if (!c.ok()) return c.failed();
  Norm norm{Centered, node.float_attr("epsilon", 1e-12F)};
  RELAXC_DO(c.set(0, norm.of(c, sum, gamma, beta, Ints{-1})));
  RELAXC_DO(c.set(3, sum));
  return norm.set_moments(c, sum, Ints{rank_of(sum) - 1});
}

/// Converts RMS normalization as ONNX Runtime writes it in the default domain. The result has the scale's dtype.
Status simplified_layer_norm(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *scale = c.input(1);
  if (!c.ok()) return c.failed();
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", -1), rank_of(x)));
  Ints axes = axes_from(axis, rank_of(x));
  double epsilon = node.float_attr("epsilon", 1e-5F);
  Value* y = Norm{false, epsilon}.of(c, c.as(x, scale->dtype()), scale, nullptr, axes);
  RELAXC_DO(c.set(0, y));
  return node.wants(1) ? c.set(1, inverse_deviation(c, x, axes, epsilon)) : Status(Done{});
}

/// Returns rows of a table; the ids may be of any integer dtype.
Value* rows(ConversionBuilder& c, Value* table, Value* ids) {
  return c.call("take", {table, ids}, {{"axis", int64_t{0}}});
}

/// Returns the number of words of each sequence, [B]: the number of ones in its mask; 0 without a mask.
Value* word_counts(ConversionBuilder& c, Value* mask, Expr batch) {
  if (mask == nullptr) return c.call("zeros", {c.node.shape({batch})}, {{"dtype", DType::i(32)}});
  Value* word = c.as(c.call("equal", {mask, c.like(mask, 1)}), DType::i(32));
  return c.reduce("sum", word, Ints{1}, false);
}

/// Adds word, position and segment embeddings and normalizes the sum.
Status embed_layer_norm(Node& node) {
  ConversionBuilder c(node);
  Value *ids = c.input(0), *segments = c.optional(1), *words = c.input(2), *places = c.input(3);
  Value *segment_table = c.optional(4), *gamma = c.input(5), *beta = c.input(6), *mask = c.optional(7);
  Value* positions = c.optional(8);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, ids, 2, "input_ids"));
  Expr batch = ids->shape().at(0), length = ids->shape().at(1);
  if (positions == nullptr) positions = c.arange(node.index(0), length);
  Value* placed = rows(c, places, positions);
  Value* sum = c.add(rows(c, words, ids), placed);
  if (segments != nullptr && segment_table != nullptr) sum = c.add(sum, rows(c, segment_table, segments));
  RELAXC_DO(c.set(2, sum));
  if (node.wants(1)) RELAXC_DO(c.set(1, word_counts(c, mask, batch)));
  return c.set(0, Norm{true, node.float_attr("epsilon", 1e-12F)}.of(c, sum, gamma, beta, Ints{-1}));
}

/// Normalizes groups of channels, which are the last dim by default; with `Skip`, adds skip and bias first.
template <bool Skip>
Status group_norm(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *gamma = c.input(1), *beta = c.input(2);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, x, 4, "the input"));
  bool last = node.int_attr("channels_last", 1) != 0;
  if (Skip) {
    Value *skip = c.input(3), *bias = c.optional(4);
    if (!c.ok()) return c.failed();
    if (rank_of(skip) == 2) skip = c.call("expand_dims", {skip}, {{"axis", last ? Ints{1, 2} : Ints{2, 3}}});
    if (bias != nullptr && !last) bias = c.call("expand_dims", {bias}, {{"axis", Ints{1, 2}}});
    x = c.plus(c.add(x, skip), bias);
    RELAXC_DO(c.set(1, x));
  }
  if (last) x = c.channels_first(x);
  Attrs attrs{{"num_groups", node.int_attr("groups", 1)}, {"epsilon", node.float_attr("epsilon", 1e-5F)}};
  Value* y = c.call("nn.group_norm", {x, gamma, beta}, std::move(attrs));
  if (last) y = c.channels_last(y);
  if (int64_t activation = node.int_attr("activation", 0); activation == 1)
    y = c.call("nn.silu", {y});
  else if (activation != 0)
    return node.error(Kind::invalid_attribute, "activation must be 0 (none) or 1 (SiLU), found {}", activation);
  return c.set(0, y);
}

/// Reshapes [..., branches * size] to [..., branches, size].
Value* branches(ConversionBuilder& c, Value* x, Expr size) {
  if (!c.ok()) return nullptr;
  std::vector<Expr> dims = x->shape();
  if (dims.empty()) return c.take(c.node.error(Kind::rank_mismatch, "the input is a scalar"));
  Expr count = c.node.simplify(arith::floordiv(dims.back(), size));
  dims.back() = count;
  dims.push_back(size);
  return c.reshape(x, std::move(dims));
}

/// Computes the RMS norm of groups as long as the scale, times the scale and the activation of the gate.
Status gated_rms_norm(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *scale = c.input(1), *gate = c.input(2);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, scale, 1, "the scale"));
  std::string activation = node.string_attr("activation", "silu");
  if (activation != "silu" && activation != "swish" && activation != "sigmoid")
    return node.error(Kind::invalid_attribute, "activation '{}' is not one of silu, swish, sigmoid", activation);
  const std::vector<Expr> dims = x->shape();
  Value* y = branches(c, x, scale->shape().at(0));
  y = Norm{false, node.float_attr("epsilon", 1e-5F)}.of(c, y, scale, nullptr, Ints{-1});
  Value* opened = c.call(activation == "sigmoid" ? OpName("sigmoid") : OpName("nn.silu"), {gate});
  return c.set(0, c.multiply(c.reshape(y, dims), opened));
}

/// Computes the RMS norm of each branch; branches are a dim of their own or parts of the last dim.
Status branchwise_rms_norm(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *scale = c.optional(1);
  if (!c.ok()) return c.failed();
  const std::vector<Expr> dims = x->shape();
  int64_t count = node.int_attr("num_branches", 0);
  if (dims.size() < (count > 0 ? 1U : 2U) || count < 0)
    return node.error(Kind::rank_mismatch, "{} branches do not fit {}", count, relax::to_string(x->info));
  Value* wide = c.as(x, DType::f(32));
  Value* grouped = count == 0 ? wide : branches(c, wide, node.simplify(arith::floordiv(dims.back(), count)));
  if (!c.ok()) return c.failed();
  Value* y = c.multiply(grouped, inverse_deviation(c, grouped, Ints{-1}, node.float_attr("epsilon", 1e-5F)));
  if (scale != nullptr) {
    const std::vector<Expr>& shape = grouped->shape();
    bool flat = scale->shape().size() == 1 && !arith::prove_equal(scale->shape().at(0), shape.back(), node.facts());
    if (flat) scale = c.reshape(scale, {shape[shape.size() - 2], shape.back()});
    y = c.multiply(y, c.as(scale, DType::f(32)));
  }
  return c.set(0, c.as(c.reshape(y, dims), x->dtype()));
}

constexpr Converter kRows[] = {
    {.name = "SkipLayerNormalization", .convert = skip_norm<true>, .domain = kMicrosoft},
    {.name = "SkipSimplifiedLayerNormalization", .convert = skip_norm<false>, .domain = kMicrosoft},
    {.name = "SimplifiedLayerNormalization",
     .convert = simplified_layer_norm,
     .note = "not an operator of the standard; ONNX Runtime writes it into models"},
    {.name = "SimplifiedLayerNormalization", .convert = simplified_layer_norm, .domain = kMicrosoft},
    {.name = "EmbedLayerNormalization", .convert = embed_layer_norm, .domain = kMicrosoft},
    {.name = "GroupNorm", .convert = group_norm<false>, .domain = kMicrosoft},
    {.name = "SkipGroupNorm", .convert = group_norm<true>, .domain = kMicrosoft},
    {.name = "GatedRMSNorm", .convert = gated_rms_norm, .domain = kMicrosoft},
    {.name = "BranchwiseRMSNorm", .convert = branchwise_rms_norm, .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend::contrib_norm_family

RELAXC_CONVERTERS(contrib_norm, kRows)
