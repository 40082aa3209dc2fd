// contrib_positions.cpp: position biases of attention scores, and rotary embeddings with given angles.
#include <cmath>

#include "frontends/onnx/contrib_attend.h"

namespace relaxc::frontend::contrib_positions_family {
namespace {

constexpr DType kF32 = DType::f(32), kI64 = DType::i(64);

/// Returns the bucket of each distance [Q, K] of int64 from a query to a key, as T5 defines it: near distances have one
/// bucket each, far ones share buckets by the logarithm of the distance.
Value* buckets(ConversionBuilder& c, Value* distance, int64_t count, int64_t most, bool both_ways) {
  auto whole = [&](int64_t value) { return c.number(kI64, static_cast<double>(value)); };
  Value* base = nullptr;
  if (both_ways) {
    count /= 2;
    base = c.where(c.call("greater", {distance, whole(0)}), whole(count), whole(0));
    distance = c.call("abs", {distance});
  } else {
    distance = c.call("maximum", {c.call("negative", {distance}), whole(0)});
  }
  int64_t exact = count / 2;
  double scale = static_cast<double>(count - exact) / std::log(static_cast<double>(most) / static_cast<double>(exact));
  Value* nearest = c.number(kF32, static_cast<double>(exact));
  Value* ratio = c.divide(c.as(distance, kF32), nearest);
  Value* steps = c.multiply(c.call("log", {c.call("maximum", {ratio, c.number(kF32, 1)})}), scale);
  Value* far = c.add(c.as(c.call("floor", {steps}), kI64), whole(exact));
  far = c.call("minimum", {far, whole(count - 1)});
  return c.plus(c.where(c.call("less", {distance, whole(exact)}), distance, far), base);
}

/// Computes biases [1, heads, Q, K] from a table that is stored head by head, unlike its shape [buckets, heads].
Status relative_position_bias(Node& node) {
  ConversionBuilder c(node);
  Value* table = c.input(0);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, table, 2, "bias_table"));
  RELAXC_TRY(int64_t count, constant_dim(node, table->shape().at(0), "the number of buckets"));
  RELAXC_TRY(Expr queries, number_in(node, 1));
  RELAXC_TRY(Expr keys, number_in(node, 2));
  int64_t most = node.int_attr("max_distance", 128);
  bool both_ways = node.int_attr("is_bidirectional", 0) != 0;
  if (count < (both_ways ? 4 : 2) || most <= count)
    return node.error(Kind::invalid_attribute, "max_distance {} must be more than the {} buckets", most, count);
  Expr one = node.index(1), zero = node.index(0), heads = table->shape().at(1);
  Value* own = positions(c, zero, queries, {queries, one});
  Value* distance = c.subtract(positions(c, zero, keys, {one, keys}), own);
  Value* which = buckets(c, distance, count, most, both_ways);
  Value* by_head = c.reshape(table, {heads, table->shape().at(0)});
  return c.set(0,
               c.call("expand_dims", {c.call("take", {by_head, which}, {{"axis", int64_t{1}}})}, {{"axis", Ints{0}}}));
}

/// Multiplies rel_pos by a gate per query, whose two parts are sums over the halves of a layer's outputs.
Status gated_position_bias(Node& node) {
  ConversionBuilder c(node);
  if (node.has(6)) return node.error(Kind::unsupported, "packed batches (token_offset) are not supported");
  Value* query = c.add(c.input(0), c.input(1));
  Value *rel_pos = c.input(2), *weight = c.input(3), *bias = c.input(4), *scale = c.input(5);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, query, 3, "query_layer"));
  RELAXC_TRY(Value * heads, heads_first(node, query, node.int_attr("num_heads", 0)));
  RELAXC_TRY(int64_t width, constant_dim(node, bias->shape().at(0), "the width of the gate"));
  if (width < 2 || width % 2 != 0) return node.error(Kind::shape_mismatch, "the gate is {} wide, not even", width);
  Value* y = c.add(c.matmul(heads, weight), bias);
  if (!c.ok()) return c.failed();
  std::vector<Expr> dims = y->shape();
  dims.back() = node.index(2);
  dims.push_back(node.index(width / 2));
  Value* gates = c.call("sigmoid", {c.reduce("sum", c.reshape(y, dims), Ints{-1}, false)});
  Value *u = c.slice(gates, 3, node.index(0), node.index(1)), *r = c.slice(gates, 3, node.index(1), node.index(2));
  Value* gate = c.add(c.multiply(u, c.add(c.multiply(r, scale), -1)), 2);
  return c.set(0, c.multiply(gate, rel_pos));
}

/// Rotates queries and keys by the angles `emb`; the model itself has exchanged the halves of the second operands.
Status gemma_rotary(Node& node) {
  ConversionBuilder c(node);
  Value* angle = c.call("expand_dims", {c.input(0)}, {{"axis", Ints{1}}});
  Value *sine = c.call("sin", {angle}), *cosine = c.call("cos", {angle});
  for (size_t i = 0; i < 2; ++i) {
    Value *x = c.input(1 + 2 * i), *exchanged = c.input(2 + 2 * i);
    if (!c.ok()) return c.failed();
    Value *turned = c.multiply(x, c.as(cosine, x->dtype())), *rest = c.multiply(exchanged, c.as(sine, x->dtype()));
    Status done = c.set(i, c.add(turned, rest));
    if (!done) return done;
  }
  return Done{};
}

/// Converts RotaryEmbedding. A single position id is that of the first token; otherwise each token has its own.
Status rotary_embedding(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *ids = c.input(1), *cosines = c.input(2), *sines = c.input(3);
  if (!c.ok()) return c.failed();
  if (node.float_attr("scale", 1) != 1 || node.int_attr("is_packed_batching", 0) != 0)
    return node.error(Kind::unsupported, "scale must be 1 and is_packed_batching 0");
  RELAXC_DO(expect_rank(node, cosines, 2, "cos_cache"));
  RELAXC_DO(expect_rank(node, sines, 2, "sin_cache"));
  bool packed = rank_of(x) == 3;
  int64_t heads = node.int_attr("num_heads", 0);
  if (packed && heads == 0) {
    RELAXC_TRY(int64_t half,
               constant_dim(node, cosines->shape().at(cosines->shape().size() - 1), "the width of cos_cache"));
    RELAXC_TRY(int64_t width, constant_dim(node, x->shape().at(2), "the width of the input"));
    heads = half < 1 ? 0 : width / (2 * half);
  }
  RELAXC_TRY(x, heads_first(node, x, heads));
  RELAXC_DO(expect_rank(node, x, 4, "the input"));
  if (rank_of(ids) == 1) ids = c.add(ids, c.arange(node.index(0), x->shape().at(2)));
  Value* y = turned(c, x, cosines, sines, ids, node.int_attr("interleaved", 0) != 0);
  if (packed && c.ok()) y = c.take(heads_last(node, y));
  return c.set(0, y);
}

constexpr Converter kRows[] = {
    {.name = "RelativePositionBias", .convert = relative_position_bias, .domain = kMicrosoft},
    {.name = "GatedRelativePositionBias",
     .convert = gated_position_bias,
     .note = "no packed batches",
     .domain = kMicrosoft},
    {.name = "RotaryEmbedding", .convert = rotary_embedding, .note = "no packed batches", .domain = kMicrosoft},
    {.name = "GemmaRotaryEmbedding", .convert = gemma_rotary, .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend::contrib_positions_family

RELAXC_CONVERTERS(contrib_positions, kRows)
