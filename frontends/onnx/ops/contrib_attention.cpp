// contrib_attention.cpp: the attentions of ONNX Runtime's optimizer: over one packed projection (Attention), over given
// heads (MultiHeadAttention), and of one token with a cache (DecoderMasked…).
//
// They differ in the form of heads, caches and masks; contrib_attend.h has the common computation.
#include <cmath>

#include "frontends/onnx/contrib_attend.h"
#include "frontends/onnx/quantized.h"

namespace relaxc::frontend::contrib_attention_family {
namespace {

/// Keys and values of earlier calls. There are three cases: none; a cache to which the new ones are appended; or a
/// shared buffer with room for more, of which a number of positions is filled. With beams, earlier positions may be
/// those of another beam.
class Cache {
 public:
  explicit Cache(ConversionBuilder& c) : c_(c), before_(c.node.index(0)) {}

  /// `past`: the keys or values [B, heads, length, size], or null. `length` and `beams` are indices of inputs.
  Status read(Value* past, bool shared, size_t length, size_t beams) {
    shared_ = shared;
    if (past != nullptr) {
      RELAXC_DO(expect_rank(c_.node, past, 4, "the past"));
      before_ = past->shape().at(2);
    }
    if (shared) {
      RELAXC_TRY(std::vector<Expr> given, c_.node.ints(length, 1));
      if (past == nullptr) return c_.node.error(Kind::wrong_arity, "a shared buffer needs past keys and values");
      before_ = given[0];
    }
    beams_ = past != nullptr && shared ? c_.optional(beams) : nullptr;
    if (c_.ok() && beams_ != nullptr) RELAXC_DO(expect_rank(c_.node, beams_, 3, "cache_indirection"));
    return c_.ok() ? Status(Done{}) : c_.failed();
  }

  Expr before() const { return before_; }

  /// Returns the keys or values for the next call.
  Value* present(Value* past, Value* fresh) {
    if (past == nullptr || !c_.ok()) return fresh;
    if (!shared_) return c_.concat({past, fresh}, 2);
    Value* place = c_.call("shape_to_tensor", {c_.node.shape({before_})});
    Value* each = c_.call("broadcast_to", {place, c_.node.shape({past->shape().at(0)})});
    return c_.call("cache_update", {past, fresh, each}, {{"axis", int64_t{2}}});
  }

  /// Returns the part of `present` that this call attends to; `fresh`: number of new positions.
  Value* seen(Value* present, Expr fresh) {
    if (!shared_) return present;
    Value* filled = c_.slice(present, 2, c_.node.index(0), c_.node.simplify(before_ + fresh));
    return beams_ == nullptr || !c_.ok() ? filled : of_beams(filled);
  }

 private:
  Value* of_beams(Value* x) {
    const std::vector<Expr> dims = x->shape();
    Expr batch = beams_->shape().at(0), width = beams_->shape().at(1), length = dims[2], one = c_.node.index(1);
    Value* source = c_.as(c_.slice(beams_, 2, c_.node.index(0), length), DType::i(64));
    Value* key = positions(c_, c_.node.index(0), length, {one, one, length});
    Value* limit = c_.call("shape_to_tensor", {c_.node.shape({before_})});
    Value* own = positions(c_, c_.node.index(0), width, {one, width, one});
    source = c_.where(c_.call("less", {key, limit}), source, own);
    std::vector<Expr> apart{batch, width, dims[1], length, dims[3]};
    source = c_.call("broadcast_to", {c_.call("expand_dims", {source}, {{"axis", Ints{2, 4}}}), c_.node.shape(apart)});
    Value* taken = c_.call("gather_elements", {c_.reshape(x, apart), source}, {{"axis", int64_t{1}}});
    return c_.reshape(taken, dims);
  }

  ConversionBuilder& c_;
  Expr before_;
  bool shared_ = false;
  Value* beams_ = nullptr;
};

/// Returns element `index` of the first dim, with that dim removed.
Value* element(ConversionBuilder& c, Value* x, int64_t index) {
  Value* part = c.slice(x, 0, c.node.index(index), c.node.index(index + 1));
  return c.call("squeeze", {part}, {{"axis", Ints{0}}});
}

/// Indices of the inputs that Attention and QAttention have in common.
struct Places {
  size_t mask, past, bias, length, beams;
};

/// Rotates heads by the position of each token, counted from `first`. A pair of channels is from both halves of a head,
/// and the angle of pair i is position / 10000^(2 i / size).
Value* turned_by_place(ConversionBuilder& c, Value* x, Expr first) {
  if (!c.ok()) return nullptr;
  Node& node = c.node;
  Result<int64_t> head = constant_dim(node, x->shape().at(3), "the size of a head");
  if (!head) return c.take(c.failed());
  int64_t size = node.int_attr("rotary_embedding_dim", 0);
  if (size == 0) size = *head;
  if (size < 2 || size % 2 != 0 || size > *head)
    return c.take(node.error(Kind::invalid_attribute, "{} of {} channels cannot be turned in pairs", size, *head));
  Expr one = node.index(1), length = x->shape().at(2);
  Value* pair = c.as(c.arange(node.index(0), node.index(size / 2)), DType::f(32));
  Value* slower = c.call("exp", {c.multiply(pair, -2 * std::log(10000.0) / static_cast<double>(size))});
  Value* angle = c.multiply(c.as(positions(c, first, length, {one, one, length, one}), DType::f(32)), slower);
  Value *cosine = c.as(c.call("cos", {angle}), x->dtype()), *sine = c.as(c.call("sin", {angle}), x->dtype());
  return c.ok() ? c.take(rotated(node, x, cosine, sine, node.index(size), false)) : nullptr;
}

/// Appends keys and values to those of `past` [2, B, heads, length, size], and sets output 1 to the next past.
Status with_past(ConversionBuilder& c, Value* past, Value* k, Value* v, const Places& at, Attend& a) {
  Node& node = c.node;
  Value *past_k = nullptr, *past_v = nullptr;
  if (past != nullptr) {
    RELAXC_DO(expect_rank(node, past, 5, "past"));
    past_k = element(c, past, 0), past_v = element(c, past, 1);
    if (!c.ok()) return c.failed();
  }
  Cache cache(c);
  RELAXC_DO(cache.read(past_k, node.int_attr("past_present_share_buffer", 0) != 0, at.length, at.beams));
  if (node.int_attr("do_rotary", 0) != 0) {
    a.q = turned_by_place(c, a.q, cache.before());
    k = turned_by_place(c, k, cache.before());
  }
  Value *keys = cache.present(past_k, k), *values = cache.present(past_v, v);
  if (!c.ok()) return c.failed();
  if (node.wants(1)) RELAXC_DO(c.set(1, c.call("stack", {keys, values}, {{"axis", int64_t{0}}})));
  a.k = cache.seen(keys, k->shape().at(2)), a.v = cache.seen(values, v->shape().at(2));
  return c.ok() ? Status(Done{}) : c.failed();
}

/// Converts attention over a projection [B, S, hidden + hidden + v_hidden].
Status self_attention(ConversionBuilder& c, Value* packed, const Places& at) {
  Node& node = c.node;
  Value *mask = c.optional(at.mask), *past = c.optional(at.past), *bias = c.optional(at.bias);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, packed, 3, "the projection of the input"));
  int64_t heads = node.int_attr("num_heads", 0);
  RELAXC_TRY(int64_t hidden, constant_dim(node, packed->shape().at(2), "the width of the weights"));
  Ints sizes = node.ints_attr("qkv_hidden_sizes", Ints(3, hidden / 3));
  if (heads < 1 || sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] + sizes[1] + sizes[2] != hidden)
    return node.error(Kind::invalid_attribute, "{} columns of weights do not divide into {} heads of q, k and v",
                      hidden, heads);
  Attend a;
  int64_t begin = 0;
  std::vector<Value*> parts;
  for (int64_t size : sizes) {
    Value* part = c.slice(packed, 2, node.index(begin), node.index(begin + size));
    begin += size;
    if (!c.ok()) return c.failed();
    parts.push_back(c.take(heads_first(node, part, heads)));
  }
  a.q = parts[0];
  RELAXC_DO(with_past(c, past, parts[1], parts[2], at, a));
  Expr queries = a.q->shape().at(2), keys = a.k->shape().at(2);
  a.scale = scale_of(c, a.q->shape().at(3));
  a.addends = {padding(c, mask, packed->shape().at(0), keys), bias};
  if (node.int_attr("unidirectional", 0) != 0) a.hidden = later(c, node.simplify(keys - queries), queries, keys);
  return c.set(0, a.run(c));
}

Status attention(Node& node) {
  ConversionBuilder c(node);
  Value* packed = c.plus(c.matmul(c.input(0), c.input(1)), c.optional(2));
  return c.ok() ? self_attention(c, packed, {3, 4, 5, 6, 8}) : c.failed();
}

/// Projects integers: (input - zero) * (weight - zero), times both scales, plus the bias.
Status quantized_attention(Node& node) {
  ConversionBuilder c(node);
  Value *x = centered(c, c.input(0), c.optional(6), -1), *weight = centered(c, c.input(1), c.optional(7), -1);
  Value* sum = c.as(c.matmul(x, weight), DType::f(32));
  Value* packed = c.add(c.multiply(sum, c.multiply(c.input(3), c.input(4))), c.input(2));
  return c.ok() ? self_attention(c, packed, {5, 8, 9, 10, 11}) : c.failed();
}

/// Returns part `index` of [B, S, heads, parts, size] as [B, heads, S, size].
Value* unpacked(ConversionBuilder& c, Value* packed, int64_t index) {
  Value* part = c.slice(packed, 3, c.node.index(index), c.node.index(index + 1));
  return c.permute(c.call("squeeze", {part}, {{"axis", Ints{3}}}), {0, 2, 1, 3});
}

/// Splits the inputs of MultiHeadAttention into queries, keys and values [B, heads, S, size], and adds the bias.
class Projections {
 public:
  Projections(ConversionBuilder& c, size_t bias) : c_(c), bias_input_(bias), heads_(c.node.int_attr("num_heads", 0)) {}

  Status read(Attend& a) {
    Value *query = c_.input(0), *key = c_.optional(1), *value = c_.optional(2);
    bias_ = c_.optional(bias_input_);
    if (!c_.ok()) return c_.failed();
    if (heads_ < 1) return c_.node.error(Kind::invalid_attribute, "num_heads must be positive, found {}", heads_);
    if (rank_of(query) == 5 && key == nullptr && value == nullptr) {
      a.q = split(query, 0), a.k = split(query, 1), a.v = split(query, 2);
    } else if (rank_of(query) == 3 && key == nullptr && value == nullptr) {
      RELAXC_DO(thirds(a, query));
    } else if (key != nullptr && rank_of(key) == 5 && value == nullptr) {
      RELAXC_TRY(a.q, plain(query));
      a.k = split(key, 0), a.v = split(key, 1);
    } else if (key != nullptr && value != nullptr) {
      RELAXC_TRY(a.q, plain(query));
      if (rank_of(key) == 4) bias_ = nullptr;  // these are cached keys, to which the bias was already added
      RELAXC_TRY(a.k, plain(key));
      RELAXC_TRY(a.v, plain(value));
    } else {
      return c_.node.error(Kind::wrong_arity, "key and value must be tensors of their own, or packed with 5 dims");
    }
    return c_.ok() ? Status(Done{}) : c_.failed();
  }

 private:
  /// Returns the next `width` elements of the bias, or null if there is none.
  Value* next_bias(Expr width) {
    Expr begin = begin_ == Expr() ? c_.node.index(0) : begin_;
    begin_ = c_.node.simplify(begin + width);
    return bias_ == nullptr ? nullptr : c_.slice(bias_, 0, begin, begin_);
  }
  Result<Value*> plain(Value* x) {
    if (rank_of(x) == 4) return x;
    RELAXC_DO(expect_rank(c_.node, x, 3, "query, key and value"));
    Value* biased = c_.plus(x, next_bias(x->shape().at(2)));
    return c_.ok() ? heads_first(c_.node, biased, heads_) : Result<Value*>(c_.failed());
  }
  /// Splits a packed projection into queries, keys and values of equal width.
  Status thirds(Attend& a, Value* packed) {
    Expr width = c_.node.simplify(arith::floordiv(packed->shape().at(2), 3));
    Value** parts[] = {&a.q, &a.k, &a.v};
    for (int64_t i = 0; i < 3; ++i) {
      Expr begin = c_.node.simplify(width * i);
      Value* part = c_.slice(packed, 2, begin, c_.node.simplify(begin + width));
      if (!c_.ok()) return c_.failed();
      RELAXC_TRY(*parts[i], plain(part));
    }
    return Done{};
  }
  Value* split(Value* packed, int64_t index) {
    Value* part = unpacked(c_, packed, index);
    if (bias_ == nullptr || !c_.ok()) return part;
    Expr size = packed->shape().at(4), count = c_.node.index(heads_);
    Value* bias = next_bias(c_.node.simplify(size * heads_));
    return c_.add(part, c_.reshape(bias, {count, c_.node.index(1), size}));
  }

  ConversionBuilder& c_;
  size_t bias_input_;
  int64_t heads_;
  Value* bias_ = nullptr;
  Expr begin_;
};

/// Indices of the inputs that both multi-head attentions have in common.
struct HeadInputs {
  size_t bias, mask, addend, past, length, beams;
};

/// Converts MultiHeadAttention and DecoderMaskedMultiHeadAttention; `shared`: the past is a shared buffer.
Status attend_heads(Node& node, const HeadInputs& at, bool shared) {
  ConversionBuilder c(node);
  Attend a;
  RELAXC_DO(Projections(c, at.bias).read(a));
  Value *mask = c.optional(at.mask), *addend = c.optional(at.addend);
  Value *past_k = c.optional(at.past), *past_v = c.optional(at.past + 1);
  Cache cache(c);
  RELAXC_DO(cache.read(past_k, shared && past_k != nullptr, at.length, at.beams));
  Expr fresh = a.k->shape().at(2);
  Value *keys = cache.present(past_k, a.k), *values = cache.present(past_v, a.v);
  RELAXC_DO(c.set(1, keys));
  RELAXC_DO(c.set(2, values));
  a.k = cache.seen(keys, fresh), a.v = cache.seen(values, fresh);
  a.scale = scale_of(c, a.q->shape().at(3));
  if (!c.ok()) return c.failed();
  Expr queries = a.q->shape().at(2), all = a.k->shape().at(2);
  a.addends = {padding(c, mask, a.q->shape().at(0), all), addend};
  if (node.int_attr("unidirectional", 0) != 0) a.hidden = later(c, cache.before(), queries, all);
  return c.set(0, a.run(c));
}

Status multi_head_attention(Node& node) {
  return attend_heads(node, {3, 4, 5, 6, 8, 9}, node.has(8));
}

/// Converts a decoder's attention with one query per sequence. Keys of 4 dims come from an encoder; no past is read.
Status decoder_attention(Node& node) {
  return attend_heads(node, {10, 3, 4, 5, 7, 9}, node.int_attr("past_present_share_buffer", 0) != 0);
}

constexpr Converter kRows[] = {
    {.name = "Attention", .convert = attention, .domain = kMicrosoft},
    {.name = "DecoderMaskedSelfAttention", .convert = attention, .domain = kMicrosoft},
    {.name = "QAttention", .convert = quantized_attention, .domain = kMicrosoft},
    {.name = "MultiHeadAttention", .convert = multi_head_attention, .domain = kMicrosoft},
    {.name = "DecoderMaskedMultiHeadAttention",
     .convert = decoder_attention,
     .note = "output qk is not made",
     .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend::contrib_attention_family

RELAXC_CONVERTERS(contrib_attention, kRows)
