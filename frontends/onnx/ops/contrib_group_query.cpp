// contrib_group_query.cpp: GroupQueryAttention and SparseAttention, from exporters of language models.
//
// Groups of query heads share keys and values; each sequence of the batch has filled the cache to its own length. The
// cache may be quantized, and may have only the last tokens (kv_cache.h).
#include "frontends/onnx/contrib_attend.h"
#include "frontends/onnx/kv_cache.h"

namespace relaxc::frontend::contrib_group_query_family {
namespace {

/// Indices of inputs; kNone, which is larger than any index, means that the operator has no such input.
struct Places {
  size_t total, lengths, cosines, positions, bias, sink, scales, norms, rows;
};
constexpr size_t kNone = 99;

/// Returns how often a CSR list of blocks contains each pair of blocks, [layouts, blocks, blocks] of float32.
Value* block_mask(ConversionBuilder& c, Value* rows, Value* columns) {
  Node& node = c.node;
  Expr layouts = rows->shape().at(0), blocks = node.simplify(rows->shape().at(1) - 1), most = columns->shape().at(1);
  Expr one = node.index(1), zero = node.index(0);
  auto bound = [&](Expr begin) {
    Value* part = c.as(c.slice(rows, 1, begin, node.simplify(begin + blocks)), DType::i(64));
    return c.reshape(part, {layouts, blocks, one});
  };
  Value *entry = positions(c, zero, most, {one, one, most}), *block = positions(c, zero, blocks, {one, one, blocks});
  Value* inside =
      c.call("logical_and", {c.call("greater_equal", {entry, bound(zero)}), c.call("less", {entry, bound(one)})});
  Value* named = c.call("equal", {c.reshape(c.as(columns, DType::i(64)), {layouts, most, one}), block});
  if (!c.ok()) return nullptr;
  named = c.as(named, DType::f(32));
  return c.matmul(c.as(inside, DType::f(32)), named);
}

class GroupQuery {
 public:
  /// Input `at.lengths` holds the number of keys of each sequence after this call, minus `behind`.
  GroupQuery(ConversionBuilder& c, const Places& at, int64_t behind)
      : c_(c),
        node_(c.node),
        at_(at),
        behind_(behind),
        heads_(node_.int_attr("num_heads", 0)),
        shared_(node_.int_attr("kv_num_heads", 0)) {}

  Status run() {
    RELAXC_DO(refuse());
    RELAXC_DO(project());
    RELAXC_DO(measure());
    normalize();
    if (node_.int_attr("do_rotary", 0) != 0) rotate();
    RELAXC_DO(cache(a_.k, 1, "k_quant_type"));
    RELAXC_DO(cache(a_.v, 2, "v_quant_type"));
    a_.scale = scale_of(c_, a_.q->shape().at(3));
    a_.softcap = node_.float_attr("softcap", 0);
    a_.hidden = hidden();
    a_.addends = {bias()};
    a_.sink = c_.optional(at_.sink);
    if (a_.sink == nullptr && node_.int_attr("smooth_softmax", -1) > 0)
      a_.sink = c_.call("zeros", {node_.shape({node_.index(heads_)})}, {{"dtype", DType::f(32)}});
    return c_.set(0, a_.run(c_));
  }

 private:
  Status refuse() {
    if (heads_ < 1 || shared_ < 1 || heads_ % shared_ != 0)
      return node_.error(Kind::invalid_attribute, "{} heads of queries do not divide over {} of keys", heads_, shared_);
    if (node_.wants(3)) return node_.error(Kind::unsupported, "output_qk is not made; drop the output");
    slides_ = node_.int_attr("sliding_window_cache", 0) != 0;
    window_ = node_.int_attr("local_window_size", -1);
    if (slides_ && (window_ < 1 || !node_.has(3) || !node_.has(4)))
      return node_.error(Kind::invalid_attribute,
                         "sliding_window_cache needs a positive local_window_size and past keys and values");
    if (node_.int_attr("causal", 1) == 0 && window_ > 0)
      return node_.error(Kind::invalid_attribute, "a local window needs causal attention");
    return Done{};
  }

  Status project() {
    Value *q = c_.input(0), *k = c_.optional(1), *v = c_.optional(2);
    if (!c_.ok()) return c_.failed();
    if (k == nullptr || v == nullptr) {
      RELAXC_TRY(int64_t width,
                 constant_dim(node_, q->shape().at(q->shape().size() - 1), "the width of the packed query"));
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

  /// Determines the maximum number of keys, and how many of each sequence are cached: none for a first prompt, which is
  /// as long as total_sequence_length. That input is trusted, since a call with a wrong one has no meaning.
  Status measure() {
    RELAXC_TRY(std::vector<Expr> total, node_.ints(at_.total, 1));
    if (total.size() != 1)
      return node_.error(Kind::shape_mismatch, "total_sequence_length must be one number, found {}", total.size());
    Expr queries = a_.q->shape().at(2);
    total_ = keys_ = queries;
    if (node_.has(3)) {
      RELAXC_TRY(const TensorInfo* past, node_.info(3));
      if (past->shape->size() != 4) return node_.error(Kind::rank_mismatch, "past_key must have 4 dims");
      // The total may be less than the cache's capacity, which has room for later tokens.
      Expr before = (*past->shape)[2];
      const int64_t* capacity = before.constant();
      if (slides_ && capacity != nullptr && *capacity < window_)
        return node_.error(Kind::shape_mismatch, "a cache of {} tokens is less than local_window_size {}", *capacity,
                           window_);
      total_ = total[0];
      keys_ = slides_ ? before + queries : arith::max(arith::min(total_, before + queries), before);
      keys_ = node_.simplify(keys_);
    }
    lengths_ = c_.add(c_.as(c_.input(at_.lengths), DType::i(64)), static_cast<double>(behind_ - 1));
    Expr zero = node_.index(0);
    auto number = [&](Expr value) { return c_.call("shape_to_tensor", {node_.shape({node_.simplify(value)})}); };
    Expr first = arith::eq(total_, queries), one = node_.index(1);
    Value* later_keys = c_.subtract(c_.add(lengths_, 1), number(queries));
    past_ = c_.multiply(later_keys, number(arith::select(first, zero, one)));
    if (slides_) held_.emplace(c_, past_, c_.add(lengths_, 1), node_.simplify(keys_ - queries), window_, queries);
    return c_.ok() ? Status(Done{}) : c_.failed();
  }

  void normalize() {
    Value *q_weight = c_.optional(at_.norms), *k_weight = c_.optional(at_.norms + 1);
    Attrs attrs{{"axes", Ints{-1}}, {"epsilon", node_.float_attr("qk_norm_epsilon", 1e-6F)}};
    if (q_weight != nullptr) a_.q = c_.call("nn.rms_norm", {a_.q, q_weight}, attrs);
    if (k_weight != nullptr) a_.k = c_.call("nn.rms_norm", {a_.k, k_weight}, attrs);
  }

  /// Returns the positions of the queries, [B, S].
  Value* query_positions() {
    Value* fresh = c_.arange(node_.index(0), a_.q->shape().at(2));
    return c_.add(c_.reshape(past_, {past_->shape().at(0), node_.index(1)}), fresh);
  }

  void rotate() {
    Value *cosines = c_.input(at_.cosines), *sines = c_.input(at_.cosines + 1), *ids = c_.optional(at_.positions);
    if (ids == nullptr) ids = query_positions();
    bool neighbours = node_.int_attr("rotary_interleaved", 0) != 0;
    a_.q = turned(c_, a_.q, cosines, sines, ids, neighbours);
    a_.k = turned(c_, a_.k, cosines, sines, ids, neighbours);
  }

  /// Appends keys or values to the cache in input 2 + `output`, sets `output`, and sets `x` to all that is attended to.
  Status cache(Value*& x, size_t output, const char* kind) {
    Value* past = c_.optional(2 + output);
    if (!c_.ok()) return c_.failed();
    DType dtype = x->dtype();
    RELAXC_TRY(StoredCache format,
               StoredCache::read(c_, kind, at_.scales + output - 1, past, shared_, x->shape().at(3)));
    Value* fresh = format.stored(c_, x);
    Value* rows = held_ ? c_.concat({past, fresh}, 2) : written(past, fresh);
    RELAXC_DO(c_.set(output, held_ ? held_->kept(rows) : rows));
    x = format.loaded(c_, rows, dtype);
    return c_.ok() ? Status(Done{}) : c_.failed();
  }

  /// Returns the cache with `fresh` written after the past of each sequence.
  Value* written(Value* past, Value* fresh) {
    if (!c_.ok()) return nullptr;
    const std::vector<Expr>& dims = fresh->shape();
    Value* room = nullptr;
    if (past == nullptr) {
      room = c_.call("zeros", {node_.shape({dims[0], dims[1], keys_, dims[3]})}, {{"dtype", fresh->dtype()}});
    } else {
      std::vector<Expr> pads(8, node_.index(0));
      pads[6] = node_.simplify(keys_ - past->shape().at(2));
      room = c_.call("pad", {past, node_.shape(std::move(pads)), c_.like(past, 0)});
    }
    return c_.call("cache_update", {room, fresh, past_}, {{"axis", int64_t{2}}});
  }

  /// Returns which keys a query must not see: later ones, those before its window, those after the end, and those in
  /// blocks that are left out.
  Value* hidden() {
    Expr one = node_.index(1);
    Value* key = held_ ? c_.call("expand_dims", {held_->positions()}, {{"axis", Ints{1, 2}}})
                       : positions(c_, node_.index(0), keys_, {one, keys_});
    if (!c_.ok()) return nullptr;
    if (node_.int_attr("causal", 1) == 0) {
      Value* last = c_.reshape(lengths_, {lengths_->shape().at(0), one, one, one});
      return c_.call("greater", {key, last});
    }
    Value* query = c_.call("expand_dims", {query_positions()}, {{"axis", Ints{1, 3}}});
    Value* hidden = c_.call("greater", {key, query});
    if (node_.has(at_.rows)) hidden = c_.call("logical_or", {hidden, left_out()});
    if (window_ <= 0) return hidden;
    Value* early =
        c_.call("less_equal", {key, c_.subtract(query, c_.number(DType::i(64), static_cast<double>(window_)))});
    return c_.call("logical_or", {hidden, early});
  }

  /// Returns which keys are in blocks that a head does not see; heads take the listed layouts in turn.
  Value* left_out() {
    Value *rows = c_.input(at_.rows), *columns = c_.input(at_.rows + 1), *queries = query_positions();
    if (!c_.ok()) return nullptr;
    int64_t size = node_.int_attr("sparse_block_size", 0);
    if (size < 1 || rank_of(rows) != 2 || rank_of(columns) != 2)
      return c_.take(node_.error(Kind::invalid_value, "it needs a sparse_block_size and block indices of 2 dims"));
    Value* seen = block_mask(c_, rows, columns);
    auto block = [&](Value* token) {
      return c_.call("floor_divide", {token, c_.number(DType::i(64), static_cast<double>(size))});
    };
    seen = c_.call("take", {seen, block(queries)}, {{"axis", int64_t{1}}, {"mode", std::string("clip")}});
    Value* of_keys = block(c_.arange(node_.index(0), keys_));
    seen = c_.call("take", {seen, of_keys}, {{"axis", int64_t{3}}, {"mode", std::string("clip")}});
    seen = c_.call("expand_dims", {c_.permute(seen, {1, 0, 2, 3})}, {{"axis", Ints{1}}});
    if (!c_.ok()) return nullptr;
    std::vector<Expr> dims = seen->shape();
    Expr heads = node_.index(heads_);
    dims[1] = node_.simplify(arith::floordiv(heads, dims[2]));
    seen = c_.call("broadcast_to", {seen, node_.shape(dims)});
    return c_.call("equal", {c_.reshape(seen, {dims[0], heads, dims[3], dims[4]}), c_.like(seen, 0)});
  }

  /// Returns attention_bias, padded with zeros to the length of the cache; null if there is none.
  Value* bias() {
    Value* bias = c_.optional(at_.bias);
    if (bias != nullptr && held_) return held_->by_row(bias);
    if (bias == nullptr || arith::prove_equal(bias->shape().at(bias->shape().size() - 1), keys_, node_.facts()))
      return bias;
    std::vector<Expr> pads(2 * bias->shape().size(), node_.index(0));
    pads.back() = node_.simplify(keys_ - bias->shape().at(bias->shape().size() - 1));
    return c_.call("pad", {bias, node_.shape(std::move(pads)), c_.like(bias, 0)});
  }

  ConversionBuilder& c_;
  Node& node_;
  Places at_;
  int64_t behind_, heads_, shared_, window_ = -1;
  bool slides_ = false;
  std::optional<SlidingWindow> held_;
  Attend a_;
  Expr total_, keys_;
  Value *lengths_ = nullptr, *past_ = nullptr;
};

Status group_query_attention(Node& node) {
  ConversionBuilder c(node);
  return GroupQuery(c, {6, 5, 7, 9, 10, 11, 12, 14, kNone}, 1).run();
}

Status sparse_attention(Node& node) {
  ConversionBuilder c(node);
  return GroupQuery(c, {7, 8, 9, kNone, kNone, kNone, kNone, kNone, 5}, 0).run();
}

constexpr Converter kRows[] = {
    {.name = "GroupQueryAttention",
     .convert = group_query_attention,
     .note = "output_qk is not made",
     .domain = kMicrosoft},
    {.name = "SparseAttention", .convert = sparse_attention, .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend::contrib_group_query_family

RELAXC_CONVERTERS(contrib_group_query, kRows)
