// contrib_group_query.cpp: RotaryEmbedding and GroupQueryAttention, as exporters of language models write them.
#include "frontends/onnx/contrib_attend.h"

namespace relaxc::frontend {
namespace {

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
    {.name = "GroupQueryAttention",
     .convert = group_query_attention,
     .note = "without quantized or sliding caches; output_qk is not made",
     .domain = kMicrosoft},
    {.name = "RotaryEmbedding", .convert = rotary_embedding, .note = "no packed batches", .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(contrib_group_query, kRows)
