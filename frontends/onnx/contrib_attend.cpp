// contrib_attend.cpp: see contrib_attend.h.
#include "frontends/onnx/contrib_attend.h"

#include <cmath>
#include <limits>

namespace relaxc::frontend {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns the softmax over keys. A sink takes part as an additional column of scores, whose result is dropped.
Value* probabilities(ConversionBuilder& c, Value* scores, Value* sink) {
  if (!c.ok()) return nullptr;
  if (sink == nullptr) return c.call("nn.softmax", {scores}, {{"axis", int64_t{-1}}});
  const std::vector<Expr> dims = scores->shape();
  Expr one = c.node.index(1);
  Value* column = c.reshape(c.as(sink, scores->dtype()), {one, sink->shape()[0], one, one});
  column = c.call("broadcast_to", {column, c.node.shape({dims[0], dims[1], dims[2], one})});
  Value* all = c.call("nn.softmax", {c.concat({scores, column}, 3)}, {{"axis", int64_t{-1}}});
  return c.slice(all, 3, c.node.index(0), dims[3]);
}

/// Returns rows of a table of cosines or sines at positions [S] or [B, S], as [1 or B, 1, S, half].
Value* angles(ConversionBuilder& c, Value* table, Value* positions) {
  Value* rows = c.call("take", {table, positions}, {{"axis", int64_t{0}}});
  if (!c.ok()) return nullptr;
  return c.call("expand_dims", {rows}, {{"axis", rank_of(rows) == 2 ? Ints{0, 1} : Ints{1}}});
}

}  // namespace

Value* Attend::run(ConversionBuilder& c) const {
  if (!c.ok()) return nullptr;
  DType given = q->dtype(), wide = given.bits < 32 ? DType::f(32) : given;
  Value* factor = c.as(scale, wide);
  Value* scaled = c.multiply(c.as(q, wide), factor);
  Value *keys = c.as(k, wide), *values = c.as(v, wide);
  if (!c.ok()) return nullptr;
  keys = c.take(shared_heads(c.node, keys, q->shape()[1]));
  values = c.take(shared_heads(c.node, values, q->shape()[1]));
  Value* scores = c.matmul(scaled, c.permute(keys, {0, 1, 3, 2}));
  if (softcap > 0) {
    scores = c.call("tanh", {c.multiply(scores, 1 / softcap)});
    scores = c.multiply(scores, softcap);
  }
  for (Value* addend : addends)
    if (addend != nullptr) scores = c.add(scores, c.as(addend, wide));
  if (hidden != nullptr) scores = c.where(hidden, c.number(wide, -kInfinity), scores);
  Value* y = c.matmul(probabilities(c, scores, sink), values);
  return c.ok() ? c.as(c.take(heads_last(c.node, y)), given) : nullptr;
}

Value* scale_of(ConversionBuilder& c, Expr head) {
  double given = c.node.float_attr("scale", 0);
  const int64_t* size = head.constant();
  if (given == 0 && size != nullptr) given = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(*size, 1)));
  if (given != 0) return c.number(DType::f(32), given);
  Value* extent = c.as(c.call("shape_to_tensor", {c.node.shape({head})}), DType::f(32));
  return c.call("rsqrt", {extent});
}

Value* positions(ConversionBuilder& c, Expr begin, Expr count, std::vector<Expr> dims) {
  return c.reshape(c.arange(begin, count), std::move(dims));
}

Value* later(ConversionBuilder& c, Expr past, Expr queries, Expr keys) {
  Value* query = positions(c, past, queries, {queries, c.node.index(1)});
  Value* key = positions(c, c.node.index(0), keys, {c.node.index(1), keys});
  return c.call("greater", {key, query});
}

Value* padding(ConversionBuilder& c, Value* mask, Expr batch, Expr keys) {
  if (mask == nullptr || !c.ok()) return nullptr;
  Node& node = c.node;
  Expr one = node.index(1), zero = node.index(0);
  const std::vector<Expr> dims = mask->shape();
  Value* seen = nullptr;
  auto is = [&](Expr count) { return arith::prove_equal(dims[0], node.simplify(count), node.facts()); };
  auto column = [&](Value* list) { return c.reshape(c.as(list, DType::i(64)), {batch, one, one, one}); };
  if (dims.size() == 1) {
    // A list is taken for lengths unless its size proves otherwise; the reshape to [batch, 1, 1, 1] guards its size.
    bool pairs = is(batch * 2), sums = is(batch * 3 + 2);
    Value* key = positions(c, zero, keys, {one, keys});
    seen = c.call("less", {key, column(pairs || sums ? c.slice(mask, 0, zero, batch) : mask)});
    if (pairs)
      seen = c.call("logical_and", {seen, c.call("greater_equal", {key, column(c.slice(mask, 0, batch, dims[0]))})});
  } else if (dims.size() == 2 || dims.size() == 3) {
    std::vector<Expr> wanted = dims;
    wanted.front() = batch, wanted.back() = keys;
    mask = c.take(with_shape(node, mask, std::move(wanted), "a mask of keys"));
    seen = c.call("expand_dims", {c.call("greater", {mask, c.like(mask, 0)})},
                  {{"axis", dims.size() == 2 ? Ints{1, 2} : Ints{1}}});
  } else {
    return c.take(node.error(Kind::unsupported, "a mask of {} dims is not supported; 1, 2 or 3 are", dims.size()));
  }
  double filter = node.float_attr("mask_filter_value", -10000);
  Value* unseen = c.number(DType::f(32), filter);
  return c.where(seen, c.number(DType::f(32), 0), unseen);
}

Value* turned(ConversionBuilder& c, Value* x, Value* cosines, Value* sines, Value* positions, bool neighbours) {
  Value *cosine = angles(c, cosines, positions), *sine = angles(c, sines, positions);
  if (!c.ok()) return nullptr;
  Result<int64_t> half = constant_dim(c.node, cosine->shape()[3], "the width of cos_cache");
  if (!half) return c.take(c.failed());
  return c.take(rotated(c.node, x, cosine, sine, c.node.index(2 * *half), neighbours));
}

}  // namespace relaxc::frontend
