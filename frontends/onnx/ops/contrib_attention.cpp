// contrib_attention.cpp: attention as ONNX Runtime's optimizer and exporters write it: over one packed projection
// (Attention), over given heads (MultiHeadAttention), and over shared heads with a cache (GroupQueryAttention).
//
// They differ in how heads, caches and masks come in; then all are softmax(scale * q k^T + masks) v on [B, heads, S,
// H]. A padding mask adds a finite number, so that a row that sees nothing stays a softmax; what is later than a query
// is left out altogether. Narrow floats are computed in float32, as ONNX Runtime does.
#include <cmath>
#include <limits>

#include "frontends/onnx/attention.h"
#include "frontends/onnx/chain.h"
#include "frontends/onnx/converter.h"
#include "frontends/onnx/quantized.h"

namespace relaxc::frontend {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One attention over [B, heads, length, size] and what bears on its scores [B, heads, S, T].
struct Attend {
  Value *q = nullptr, *k = nullptr, *v = nullptr;
  Value* scale = nullptr;  ///< float32
  double softcap = 0;
  std::vector<Value*> addends;  ///< added to the scores; nulls are passed over
  Value* hidden = nullptr;      ///< bool: keys that take no part
  Value* sink = nullptr;        ///< [heads]: a score that takes part in the sum and has no value

  /// [B, S, heads * size].
  Value* run(Chain& c) const {
    if (!c.ok()) return nullptr;
    DType given = q->dtype(), wide = given.bits < 32 ? DType::f(32) : given;
    Value* scaled = c.multiply(c.as(q, wide), c.as(scale, wide));
    Value* keys = c.permute(c.as(k, wide), {0, 1, 3, 2});
    if (!c.ok()) return nullptr;
    Value* scores = c.take(grouped_matmul(c.node, scaled, keys));
    if (softcap > 0) {
      scores = c.call("tanh", {c.multiply(scores, 1 / softcap)});
      scores = c.multiply(scores, softcap);
    }
    for (Value* addend : addends)
      if (addend != nullptr) scores = c.add(scores, c.as(addend, wide));
    if (hidden != nullptr) scores = c.where(hidden, c.number(wide, -kInfinity), scores);
    Value *weights = probabilities(c, scores), *values = c.as(v, wide);
    if (!c.ok()) return nullptr;
    Value* y = c.take(grouped_matmul(c.node, weights, values));
    return c.ok() ? c.as(c.take(heads_last(c.node, y)), given) : nullptr;
  }

 private:
  Value* probabilities(Chain& c, Value* scores) const {
    if (!c.ok()) return nullptr;
    if (sink == nullptr) return c.call("nn.softmax", {scores}, {{"axis", int64_t{-1}}});
    const std::vector<Expr> dims = scores->shape();
    Expr one = c.node.index(1);
    Value* column = c.reshape(c.as(sink, scores->dtype()), {one, sink->shape()[0], one, one});
    column = c.call("broadcast_to", {column, c.node.shape({dims[0], dims[1], dims[2], one})});
    Value* all = c.call("nn.softmax", {c.concat({scores, column}, 3)}, {{"axis", int64_t{-1}}});
    return c.slice(all, 3, c.node.index(0), dims[3]);
  }
};

/// The attribute, or 1 / sqrt(size) where it is not given; by the run where the size is a symbol.
Value* scale_of(Chain& c, Expr head) {
  double given = c.node.float_attr("scale", 0);
  const int64_t* size = head.constant();
  if (given == 0 && size != nullptr) given = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(*size, 1)));
  if (given != 0) return c.number(DType::f(32), given);
  Value* extent = c.as(c.call("shape_to_tensor", {c.node.shape({head})}), DType::f(32));
  return c.call("rsqrt", {extent});
}

Value* positions(Chain& c, Expr begin, Expr count, std::vector<Expr> dims) {
  return c.reshape(c.arange(begin, count), std::move(dims));
}

/// Whether a key is later than the query: [S, T].
Value* later(Chain& c, Expr past, Expr queries, Expr keys) {
  Value* query = positions(c, past, queries, {queries, c.node.index(1)});
  Value* key = positions(c, c.node.index(0), keys, {c.node.index(1), keys});
  return c.call("greater", {key, query});
}

/// The padding mask of Attention and MultiHeadAttention as an addend: lengths [B], ends and begins [2B], lengths and
/// sums [3B + 2], or what is seen as 1, [B, T] or [B, S, T].
Value* padding(Chain& c, Value* mask, Expr batch, Expr keys) {
  if (mask == nullptr || !c.ok()) return nullptr;
  Node& node = c.node;
  Expr one = node.index(1), zero = node.index(0);
  const std::vector<Expr> dims = mask->shape();
  Value* seen = nullptr;
  auto is = [&](Expr count) { return arith::prove_equal(dims[0], node.simplify(count), node.facts()); };
  auto column = [&](Value* list) { return c.reshape(c.as(list, DType::i(64)), {batch, one, one, one}); };
  if (dims.size() == 1) {
    // A list that cannot be told from lengths is taken for them, and guarded to be as many.
    bool pairs = is(batch * 2), sums = is(batch * 3 + 2);
    Value* key = positions(c, zero, keys, {one, keys});
    seen = c.call("less", {key, column(pairs || sums ? c.slice(mask, 0, zero, batch) : mask)});
    if (pairs)
      seen = c.call("logical_and", {seen, c.call("greater_equal", {key, column(c.slice(mask, 0, batch, dims[0]))})});
  } else if (dims.size() == 2 || dims.size() == 3) {
    seen = c.call("expand_dims", {c.call("greater", {mask, c.like(mask, 0)})},
                  {{"axis", dims.size() == 2 ? Ints{1, 2} : Ints{1}}});
  } else {
    return c.take(node.error(Kind::unsupported, "a mask of {} dims is not supported; 1, 2 or 3 are", dims.size()));
  }
  double filter = node.float_attr("mask_filter_value", -10000);
  return c.where(seen, c.number(DType::f(32), 0), c.number(DType::f(32), filter));
}

/// `x` behind `past` along the length, if there is a past.
Value* behind(Chain& c, Value* past, Value* x) {
  return past == nullptr ? x : c.concat({past, x}, 2);
}

/// Element `index` of the first dim, which goes.
Value* element(Chain& c, Value* x, int64_t index) {
  Value* part = c.slice(x, 0, c.node.index(index), c.node.index(index + 1));
  return c.call("squeeze", {part}, {{"axis", Ints{0}}});
}

/// Where the inputs stand that Attention and QAttention have in common.
struct Places {
  size_t mask, past, bias;
};

/// Attention over a projection [B, S, hidden + hidden + v_hidden].
Status self_attention(Chain& c, Value* packed, const Places& at) {
  Node& node = c.node;
  Diagnostics& diag = node.diag;
  Value *mask = c.optional(at.mask), *past = c.optional(at.past), *bias = c.optional(at.bias);
  if (!c.ok()) return c.failed();
  if (node.int_attr("do_rotary", 0) != 0 || node.int_attr("past_present_share_buffer", 0) != 0)
    return node.error(Kind::unsupported, "do_rotary and past_present_share_buffer must be 0");
  RELAXC_DO(expect_rank(node, packed, 3, "the projection of the input"));
  int64_t heads = node.int_attr("num_heads", 0);
  RELAXC_TRY(int64_t hidden, constant_dim(node, packed->shape()[2], "the width of the weights"));
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
  Expr before = node.index(0);
  if (past != nullptr) {
    RELAXC_DO(expect_rank(node, past, 5, "past"));
    before = past->shape()[3];
    for (int64_t i = 0; i < 2; ++i)
      parts[static_cast<size_t>(i + 1)] = behind(c, element(c, past, i), parts[static_cast<size_t>(i + 1)]);
  }
  a.q = parts[0], a.k = parts[1], a.v = parts[2];
  if (!c.ok()) return c.failed();
  if (node.wants(1)) RELAXC_DO(c.set(1, c.call("stack", {a.k, a.v}, {{"axis", int64_t{0}}})));
  a.scale = scale_of(c, a.q->shape()[3]);
  Expr queries = a.q->shape()[2], keys = a.k->shape()[2];
  a.addends = {padding(c, mask, packed->shape()[0], keys), bias};
  if (node.int_attr("unidirectional", 0) != 0) a.hidden = later(c, before, queries, keys);
  return c.set(0, a.run(c));
}

Status attention(Node& node) {
  Chain c(node);
  if (node.has(6)) return node.error(Kind::unsupported, "past_sequence_length is not supported");
  Value* packed = c.plus(c.matmul(c.input(0), c.input(1)), c.optional(2));
  return c.ok() ? self_attention(c, packed, {3, 4, 5}) : c.failed();
}

/// The projection of integers: (input - zero) * (weight - zero), times both scales, plus the bias.
Status quantized_attention(Node& node) {
  Chain c(node);
  Value *x = centered(c, c.input(0), c.optional(6), -1), *weight = centered(c, c.input(1), c.optional(7), -1);
  Value* sum = c.as(c.matmul(x, weight), DType::f(32));
  Value* packed = c.add(c.multiply(sum, c.multiply(c.input(3), c.input(4))), c.input(2));
  return c.ok() ? self_attention(c, packed, {5, 8, 9}) : c.failed();
}

/// Part `index` of [B, S, heads, parts, size] as [B, heads, S, size].
Value* unpacked(Chain& c, Value* packed, int64_t index) {
  Value* part = c.slice(packed, 3, c.node.index(index), c.node.index(index + 1));
  return c.permute(c.call("squeeze", {part}, {{"axis", Ints{3}}}), {0, 2, 1, 3});
}

/// Queries, keys and values of MultiHeadAttention in their form, biases added.
class Projections {
 public:
  explicit Projections(Chain& c) : c_(c), heads_(c.node.int_attr("num_heads", 0)) {}

  Status read(Attend& a) {
    Diagnostics& diag = c_.node.diag;
    Value *query = c_.input(0), *key = c_.optional(1), *value = c_.optional(2);
    bias_ = c_.optional(3);
    if (!c_.ok()) return c_.failed();
    if (heads_ < 1) return c_.node.error(Kind::invalid_attribute, "num_heads must be positive, found {}", heads_);
    if (rank_of(query) == 5 && key == nullptr && value == nullptr) {
      a.q = split(query, 0), a.k = split(query, 1), a.v = split(query, 2);
    } else if (key != nullptr && rank_of(key) == 5 && value == nullptr) {
      RELAXC_TRY(a.q, plain(query));
      a.k = split(key, 0), a.v = split(key, 1);
    } else if (key != nullptr && value != nullptr) {
      RELAXC_TRY(a.q, plain(query));
      if (rank_of(key) == 4) bias_ = nullptr;  // a cache, whose bias was added when it was made
      RELAXC_TRY(a.k, plain(key));
      RELAXC_TRY(a.v, plain(value));
    } else {
      return c_.node.error(Kind::wrong_arity, "key and value must be tensors of their own, or packed with 5 dims");
    }
    return c_.ok() ? Status(Done{}) : c_.failed();
  }

 private:
  /// The next `width` elements of the bias.
  Value* next_bias(Expr width) {
    Expr begin = begin_ == Expr() ? c_.node.index(0) : begin_;
    begin_ = c_.node.simplify(begin + width);
    return bias_ == nullptr ? nullptr : c_.slice(bias_, 0, begin, begin_);
  }
  Result<Value*> plain(Value* x) {
    if (rank_of(x) == 4) return x;
    Diagnostics& diag = c_.node.diag;
    RELAXC_DO(expect_rank(c_.node, x, 3, "query, key and value"));
    Value* biased = c_.plus(x, next_bias(x->shape()[2]));
    return c_.ok() ? heads_first(c_.node, biased, heads_) : Result<Value*>(c_.failed());
  }
  Value* split(Value* packed, int64_t index) {
    Value* part = unpacked(c_, packed, index);
    if (bias_ == nullptr || !c_.ok()) return part;
    Expr size = packed->shape()[4], count = c_.node.index(heads_);
    Value* bias = next_bias(c_.node.simplify(size * heads_));
    return c_.add(part, c_.reshape(bias, {count, c_.node.index(1), size}));
  }

  Chain& c_;
  int64_t heads_;
  Value* bias_ = nullptr;
  Expr begin_;
};

Status multi_head_attention(Node& node) {
  Diagnostics& diag = node.diag;
  Chain c(node);
  if (node.has(8) || node.has(9))
    return node.error(Kind::unsupported, "past_sequence_length and cache_indirection are not supported");
  Attend a;
  RELAXC_DO(Projections(c).read(a));
  Value *mask = c.optional(4), *bias = c.optional(5), *past_key = c.optional(6), *past_value = c.optional(7);
  if (!c.ok()) return c.failed();
  Expr before = node.index(0);
  if (past_key != nullptr) {
    RELAXC_DO(expect_rank(node, past_key, 4, "past_key"));
    before = past_key->shape()[2];
  }
  a.k = behind(c, past_key, a.k);
  a.v = behind(c, past_value, a.v);
  RELAXC_DO(c.set(1, a.k));
  RELAXC_DO(c.set(2, a.v));
  a.scale = scale_of(c, a.q->shape()[3]);
  Expr queries = a.q->shape()[2], keys = a.k->shape()[2];
  a.addends = {padding(c, mask, a.q->shape()[0], keys), bias};
  if (node.int_attr("unidirectional", 0) != 0) a.hidden = later(c, before, queries, keys);
  return c.set(0, a.run(c));
}

/// Rows of a table of cosines or sines at positions [S] or [B, S], as [1 or B, 1, S, half].
Value* angles(Chain& c, Value* table, Value* positions) {
  Value* rows = c.call("take", {table, positions}, {{"axis", int64_t{0}}});
  if (!c.ok()) return nullptr;
  return c.call("expand_dims", {rows}, {{"axis", rank_of(rows) == 2 ? Ints{0, 1} : Ints{1}}});
}

/// x [B, heads, S, size] turned by the angles of its positions.
Value* turned(Chain& c, Value* x, Value* cosines, Value* sines, Value* positions, bool neighbours) {
  Value *cosine = angles(c, cosines, positions), *sine = angles(c, sines, positions);
  if (!c.ok()) return nullptr;
  Result<int64_t> half = constant_dim(c.node, cosine->shape()[3], "the width of cos_cache");
  if (!half) return c.take(c.failed());
  return c.take(rotated(c.node, x, cosine, sine, c.node.index(2 * *half), neighbours));
}

/// One position is where the sequences begin; else each element has its own.
Status rotary_embedding(Node& node) {
  Diagnostics& diag = node.diag;
  Chain c(node);
  Value *x = c.input(0), *ids = c.input(1), *cosines = c.input(2), *sines = c.input(3);
  if (!c.ok()) return c.failed();
  if (node.float_attr("scale", 1) != 1 || node.int_attr("is_packed_batching", 0) != 0)
    return node.error(Kind::unsupported, "scale must be 1 and is_packed_batching 0");
  bool packed = rank_of(x) == 3;
  int64_t heads = node.int_attr("num_heads", 0);
  if (packed && heads == 0) {
    RELAXC_TRY(int64_t half, constant_dim(node, cosines->shape().back(), "the width of cos_cache"));
    RELAXC_TRY(int64_t width, constant_dim(node, x->shape()[2], "the width of the input"));
    heads = half < 1 ? 0 : width / (2 * half);
  }
  RELAXC_TRY(x, heads_first(node, x, heads));
  if (rank_of(ids) == 1) ids = c.add(ids, c.arange(node.index(0), x->shape()[2]));
  Value* y = turned(c, x, cosines, sines, ids, node.int_attr("interleaved", 0) != 0);
  if (packed && c.ok()) y = c.take(heads_last(node, y));
  return c.set(0, y);
}

/// GroupQueryAttention: heads of queries share keys and values, whose cache each sequence of the batch has filled to
/// its own length.
class GroupQuery {
 public:
  explicit GroupQuery(Chain& c)
      : c_(c), node_(c.node), heads_(node_.int_attr("num_heads", 0)), shared_(node_.int_attr("kv_num_heads", 0)) {}

  Status run() {
    Diagnostics& diag = node_.diag;
    RELAXC_DO(refuse());
    RELAXC_DO(project());
    RELAXC_DO(measure());
    normalize();
    if (node_.int_attr("do_rotary", 0) != 0) rotate();
    a_.k = cached(3, a_.k);
    a_.v = cached(4, a_.v);
    RELAXC_DO(c_.set(1, a_.k));
    RELAXC_DO(c_.set(2, a_.v));
    a_.scale = scale_of(c_, a_.q->shape()[3]);
    a_.softcap = node_.float_attr("softcap", 0);
    a_.hidden = hidden();
    a_.addends = {bias()};
    a_.sink = c_.optional(11);
    if (a_.sink == nullptr && node_.int_attr("smooth_softmax", -1) > 0)
      a_.sink = c_.call("zeros", {node_.shape({node_.index(heads_)})}, {{"dtype", DType::f(32)}});
    return c_.set(0, a_.run(c_));
  }

 private:
  Status refuse() {
    if (heads_ < 1 || shared_ < 1 || heads_ % shared_ != 0)
      return node_.error(Kind::invalid_attribute, "{} heads of queries do not divide over {} of keys", heads_, shared_);
    for (const char* which : {"k_quant_type", "v_quant_type"})
      if (node_.string_attr(which, "NONE") != "NONE")
        return node_.error(Kind::unsupported, "a quantized cache ({}) is not supported", which);
    if (node_.int_attr("sliding_window_cache", 0) != 0)
      return node_.error(Kind::unsupported, "sliding_window_cache must be 0");
    if (node_.int_attr("causal", 1) == 0 && node_.int_attr("local_window_size", -1) > 0)
      return node_.error(Kind::invalid_attribute, "a local window needs causal attention");
    return Done{};
  }

  Status project() {
    Diagnostics& diag = node_.diag;
    Value *q = c_.input(0), *k = c_.optional(1), *v = c_.optional(2);
    if (!c_.ok()) return c_.failed();
    if (k == nullptr || v == nullptr) {
      RELAXC_TRY(int64_t width, constant_dim(node_, q->shape().back(), "the width of the packed query"));
      int64_t size = width / (heads_ + 2 * shared_), queries = size * heads_, keys = queries + size * shared_;
      Value* all = q;
      q = c_.slice(all, 2, node_.index(0), node_.index(queries));
      k = c_.slice(all, 2, node_.index(queries), node_.index(keys));
      v = c_.slice(all, 2, node_.index(keys), node_.index(width));
      if (!c_.ok()) return c_.failed();
    }
    RELAXC_TRY(a_.q, heads_first(node_, q, heads_));
    RELAXC_TRY(a_.k, heads_first(node_, k, shared_));
    RELAXC_TRY(a_.v, heads_first(node_, v, shared_));
    return Done{};
  }

  /// How many keys there are at most, and how many of each sequence are in the cache: none at the first prompt, which
  /// is as long as all of them. total_sequence_length is what it says, or the call has no meaning.
  Status measure() {
    Diagnostics& diag = node_.diag;
    RELAXC_TRY(std::vector<Expr> total, node_.ints(6));
    if (total.size() != 1)
      return node_.error(Kind::shape_mismatch, "total_sequence_length must be one number, found {}", total.size());
    Expr queries = a_.q->shape()[2];
    total_ = keys_ = queries;
    if (node_.has(3)) {
      RELAXC_TRY(const TensorInfo* past, node_.info(3));
      if (past->shape->size() != 4) return node_.error(Kind::rank_mismatch, "past_key must have 4 dims");
      // Fewer may be asked for than would fit: a cache has room for what is to come.
      Expr before = (*past->shape)[2];
      total_ = total[0];
      keys_ = node_.simplify(arith::max(arith::min(total_, before + queries), before));
    }
    lengths_ = c_.as(c_.input(5), DType::i(64));
    Expr zero = node_.index(0);
    auto number = [&](Expr value) { return c_.call("shape_to_tensor", {node_.shape({node_.simplify(value)})}); };
    Expr first = arith::eq(total_, queries), one = node_.index(1);
    Value* later_keys = c_.subtract(c_.add(lengths_, 1), number(queries));
    past_ = c_.multiply(later_keys, number(arith::select(first, zero, one)));
    return c_.ok() ? Status(Done{}) : c_.failed();
  }

  void normalize() {
    Value *q_weight = c_.optional(14), *k_weight = c_.optional(15);
    Attrs attrs{{"axes", Ints{-1}}, {"epsilon", node_.float_attr("qk_norm_epsilon", 1e-6F)}};
    if (q_weight != nullptr) a_.q = c_.call("nn.rms_norm", {a_.q, q_weight}, attrs);
    if (k_weight != nullptr) a_.k = c_.call("nn.rms_norm", {a_.k, k_weight}, attrs);
  }

  /// The positions of the queries, [B, S].
  Value* query_positions() {
    return c_.add(c_.reshape(past_, {past_->shape()[0], node_.index(1)}), c_.arange(node_.index(0), a_.q->shape()[2]));
  }

  void rotate() {
    Value *cosines = c_.input(7), *sines = c_.input(8), *ids = c_.optional(9);
    if (ids == nullptr) ids = query_positions();
    bool neighbours = node_.int_attr("rotary_interleaved", 0) != 0;
    a_.q = turned(c_, a_.q, cosines, sines, ids, neighbours);
    a_.k = turned(c_, a_.k, cosines, sines, ids, neighbours);
  }

  /// The cache of input `past` with `fresh` written behind what each sequence has in it.
  Value* cached(size_t past, Value* fresh) {
    Value* old = c_.optional(past);
    if (!c_.ok()) return nullptr;
    const std::vector<Expr>& dims = fresh->shape();
    Value* room = nullptr;
    if (old == nullptr) {
      room = c_.call("zeros", {node_.shape({dims[0], dims[1], keys_, dims[3]})}, {{"dtype", fresh->dtype()}});
    } else {
      std::vector<Expr> pads(8, node_.index(0));
      pads[6] = node_.simplify(keys_ - old->shape()[2]);
      room = c_.call("pad", {old, node_.shape(std::move(pads)), c_.like(old, 0)});
    }
    return c_.call("cache_update", {room, fresh, past_}, {{"axis", int64_t{2}}});
  }

  /// Keys that a query must not see: later ones, those before its window, those behind the end.
  Value* hidden() {
    Expr one = node_.index(1);
    Value* key = positions(c_, node_.index(0), keys_, {one, keys_});
    if (!c_.ok()) return nullptr;
    if (node_.int_attr("causal", 1) == 0) {
      Value* last = c_.reshape(lengths_, {lengths_->shape()[0], one, one, one});
      return c_.call("greater", {key, last});
    }
    Value* query = c_.call("expand_dims", {query_positions()}, {{"axis", Ints{1, 3}}});
    Value* hidden = c_.call("greater", {key, query});
    int64_t window = node_.int_attr("local_window_size", -1);
    if (window <= 0) return hidden;
    Value* early =
        c_.call("less_equal", {key, c_.subtract(query, c_.number(DType::i(64), static_cast<double>(window)))});
    return c_.call("logical_or", {hidden, early});
  }

  /// attention_bias, which may end before the cache does.
  Value* bias() {
    Value* bias = c_.optional(10);
    if (bias == nullptr || arith::prove_equal(bias->shape().back(), keys_, node_.facts())) return bias;
    std::vector<Expr> pads(2 * bias->shape().size(), node_.index(0));
    pads.back() = node_.simplify(keys_ - bias->shape().back());
    return c_.call("pad", {bias, node_.shape(std::move(pads)), c_.like(bias, 0)});
  }

  Chain& c_;
  Node& node_;
  int64_t heads_, shared_;
  Attend a_;
  Expr total_, keys_;
  Value *lengths_ = nullptr, *past_ = nullptr;
};

Status group_query_attention(Node& node) {
  Chain c(node);
  return GroupQuery(c).run();
}

constexpr Converter kRows[] = {
    {.name = "Attention", .convert = attention, .note = "without shared buffers and rotation", .domain = kMicrosoft},
    {.name = "QAttention", .convert = quantized_attention, .domain = kMicrosoft},
    {.name = "MultiHeadAttention",
     .convert = multi_head_attention,
     .note = "without shared buffers and beams",
     .domain = kMicrosoft},
    {.name = "GroupQueryAttention",
     .convert = group_query_attention,
     .note = "without quantized or sliding caches; output_qk is not made",
     .domain = kMicrosoft},
    {.name = "RotaryEmbedding", .convert = rotary_embedding, .note = "no packed batches", .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(contrib_attention, kRows)
