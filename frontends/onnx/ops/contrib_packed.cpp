// contrib_packed.cpp: batches without padding: RemovePadding, RestorePadding and the attentions between them.
//
// Tokens of all sequences are concatenated, [tokens, width]; token_offset [B, S] has the positions in the batch of the
// first `tokens` of them, then those of the padding. Attention, which mixes the tokens of a sequence, restores the
// batch, where rows of padding see arbitrary keys, and extracts the tokens again.
#include "frontends/onnx/contrib_attend.h"

namespace relaxc::frontend::contrib_packed_family {
namespace {

constexpr DType kI32 = DType::i(32), kI64 = DType::i(64);

/// Converts between packed tokens [tokens, width] and a padded batch [B, S, width].
class Packing {
 public:
  /// `like`: any tensor with one row per token. `offsets` [B, S]: positions of the tokens, then of the padding.
  Packing(ConversionBuilder& c, Value* like, Value* offsets) : c_(c) {
    if (!c.ok()) return;
    count_ = like->shape().at(0), batch_ = offsets->shape().at(0), length_ = offsets->shape().at(1);
    all_ = c.node.simplify(batch_ * length_);
    Value* list = c.reshape(c.as(offsets, kI64), {all_});
    places_ = c.slice(list, 0, c.node.index(0), count_);
  }

  /// Returns [tokens, width] as [B, S, width], with zeros as padding.
  Value* unpacked(Value* x) {
    if (!c_.ok()) return nullptr;
    Expr width = x->shape().at(1);
    Value* room = c_.call("zeros", {c_.node.shape({all_, width})}, {{"dtype", x->dtype()}});
    Value* at = c_.reshape(places_, {count_, c_.node.index(1)});
    return c_.reshape(c_.call("scatter_nd", {room, at, x}, {{"reduction", std::string("none")}}),
                      {batch_, length_, width});
  }

  /// Returns [B, S, width] as [tokens, width], without padding.
  Value* packed(Value* x) {
    if (!c_.ok()) return nullptr;
    return c_.call("take", {c_.reshape(x, {all_, x->shape().at(2)}), places_}, {{"axis", int64_t{0}}});
  }

  /// Returns which keys are padding, [B, 1, 1, S]; `sums` [B + 1]: cumulative lengths of the sequences.
  Value* padding(Value* sums) {
    Expr one = c_.node.index(1), zero = c_.node.index(0);
    Value* list = c_.as(sums, kI64);
    Value* begins = c_.slice(list, 0, zero, batch_);
    Value* lengths = c_.subtract(c_.slice(list, 0, one, c_.node.simplify(batch_ + 1)), begins);
    Value* key = positions(c_, zero, length_, {one, length_});
    return c_.call("greater_equal", {key, c_.reshape(lengths, {batch_, one, one, one})});
  }

 private:
  ConversionBuilder& c_;
  Expr count_, batch_, length_, all_;
  Value* places_ = nullptr;
};

/// Converts attention over projections [tokens, width]; inputs from `offsets` on are offsets, sums of lengths and bias.
Status attend_packed(ConversionBuilder& c, Value* q, Value* k, Value* v, size_t offsets) {
  Node& node = c.node;
  int64_t heads = node.int_attr("num_heads", 0);
  Value *places = c.input(offsets), *sums = c.input(offsets + 1), *bias = c.optional(offsets + 2);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, places, 2, "token_offset"));
  Packing packing(c, q, places);
  Attend a;
  Value** parts[] = {&a.q, &a.k, &a.v};
  Value* given[] = {q, k, v};
  for (size_t i = 0; i < 3; ++i) {
    Value* batch = packing.unpacked(given[i]);
    if (!c.ok()) return c.failed();
    RELAXC_TRY(*parts[i], heads_first(node, batch, heads));
  }
  a.scale = scale_of(c, a.q->shape().at(3));
  a.addends = {bias};
  a.hidden = packing.padding(sums);
  return c.set(0, packing.packed(a.run(c)));
}

/// Projects the tokens [tokens, input width] to queries, keys and values, and attends over these.
Status packed_attention(Node& node) {
  ConversionBuilder c(node);
  Value* all = c.plus(c.matmul(c.input(0), c.input(1)), c.optional(2));
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, all, 2, "the projection of the tokens"));
  RELAXC_TRY(int64_t width, constant_dim(node, all->shape().at(1), "the width of the weights"));
  Ints sizes = node.ints_attr("qkv_hidden_sizes", Ints(3, width / 3));
  if (sizes.size() != 3 || sizes[0] < 1 || sizes[0] != sizes[1] || 2 * sizes[0] + sizes[2] != width)
    return node.error(Kind::invalid_attribute, "{} columns of weights do not divide into q, k and v", width);
  auto part = [&](int64_t begin, int64_t size) { return c.slice(all, 1, node.index(begin), node.index(begin + size)); };
  Value *q = part(0, sizes[0]), *k = part(sizes[0], sizes[1]), *v = part(2 * sizes[0], sizes[2]);
  return attend_packed(c, q, k, v, 3);
}

/// Attends over given queries, keys and values, or one tensor [tokens, heads, 3, size] of all.
Status packed_heads(Node& node) {
  ConversionBuilder c(node);
  Value *q = c.input(0), *k = c.optional(1), *v = c.optional(2), *bias = c.optional(3);
  if (!c.ok()) return c.failed();
  if (k == nullptr && v == nullptr && rank_of(q) == 4) {
    const std::vector<Expr> dims = q->shape();
    Value* all = c.permute(q, {2, 0, 1, 3});
    auto part = [&](int64_t i) {
      Value* one = c.slice(all, 0, node.index(i), node.index(i + 1));
      return c.reshape(one, {dims[0], node.simplify(dims[1] * dims[3])});
    };
    q = part(0), k = part(1), v = part(2);
  } else if (k == nullptr || v == nullptr) {
    return node.error(Kind::wrong_arity, "key and value must be tensors of their own, or packed with 4 dims");
  }
  if (!c.ok()) return c.failed();
  Expr begin = node.index(0);
  for (Value** x : {&q, &k, &v}) {
    RELAXC_DO(expect_rank(node, *x, 2, "query, key and value"));
    Expr end = node.simplify(begin + (*x)->shape().at(1));
    if (bias != nullptr) *x = c.add(*x, c.slice(bias, 0, begin, end));
    if (!c.ok()) return c.failed();
    begin = end;
  }
  return attend_packed(c, q, k, v, 4);
}

/// Removes the padding of [B, S, width]; also sets the positions of tokens, cumulative lengths and the largest length.
Status remove_padding(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *counts = c.as(c.input(1), kI64);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, x, 3, "the input"));
  RELAXC_DO(expect_rank(node, counts, 1, "sequence_token_count"));
  Expr one = node.index(1), batch = x->shape().at(0), length = x->shape().at(1), all = node.simplify(batch * length);
  Value* place = positions(c, node.index(0), length, {one, length});
  Value* padded = c.call("greater_equal", {place, c.reshape(counts, {batch, one})});
  padded = c.reshape(padded, {all});
  Value* kept = c.call("nonzero", {c.call("logical_not", {padded})});
  kept = c.call("squeeze", {kept}, {{"axis", Ints{0}}});
  RELAXC_DO(c.set(0, c.call("take", {c.reshape(x, {all, x->shape().at(2)}), kept}, {{"axis", int64_t{0}}})));
  Value* order = c.call("argsort", {c.as(padded, kI32)}, {{"axis", int64_t{0}}});
  RELAXC_DO(c.set(1, c.reshape(c.as(order, kI32), {batch, length})));
  Value* none = c.call("zeros", {node.shape({one})}, {{"dtype", kI64}});
  Value* sums = c.concat({none, c.call("cumsum", {counts}, {{"axis", int64_t{0}}})}, 0);
  RELAXC_DO(c.set(2, c.as(sums, kI32)));
  return c.set(3, c.as(c.reduce("max", counts, Ints{0}), kI32));
}

Status restore_padding(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *offsets = c.input(1);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, x, 2, "the input"));
  RELAXC_DO(expect_rank(node, offsets, 2, "token_offset"));
  return c.set(0, Packing(c, x, offsets).unpacked(x));
}

constexpr Converter kRows[] = {
    {.name = "PackedAttention", .convert = packed_attention, .domain = kMicrosoft},
    {.name = "PackedMultiHeadAttention", .convert = packed_heads, .domain = kMicrosoft},
    {.name = "RemovePadding", .convert = remove_padding, .domain = kMicrosoft},
    {.name = "RestorePadding", .convert = restore_padding, .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend::contrib_packed_family

RELAXC_CONVERTERS(contrib_packed, kRows)
