// attention.cpp: attention over heads, with caches, masks and windows; rotary embeddings.
//
// Attention expands to its matmuls and softmax, so that fusion and schedules see them. Keys and values that a group of
// queries shares are repeated for it, as other exporters write it; the pass recognize_grouped_queries removes the
// repetition. Which keys a query may see is computed from positions, and a row that sees none is zero, as the standard
// requires.
#include <cmath>
#include <limits>

#include "frontends/onnx/attention.h"
#include "frontends/onnx/importer.h"

namespace relaxc::frontend::attention_family {
namespace {

using Ints = std::vector<int64_t>;

Result<Value*> permute(Node& node, Value* x, Ints axes) {
  return node.call("permute_dims", {x}, {{"axes", std::move(axes)}});
}

/// Returns the elements `begin` to `end` - 1 of the last dim.
Result<Value*> last_part(Node& node, Value* x, Expr begin, Expr end) {
  int64_t last = static_cast<int64_t>(x->shape().size()) - 1;
  return node.call("strided_slice", {x, node.shape({begin}), node.shape({end}), node.shape({node.index(1)})},
                   {{"axes", Ints{last}}});
}

/// Returns the scaled products of queries and keys, [B, heads, S, T].
Result<Value*> scores_of(Node& node, Value* q, Value* k, Value* scale) {
  RELAXC_TRY(q, node.call("multiply", {q, scale}));
  RELAXC_TRY(k, shared_heads(node, k, q->shape()[1]));
  RELAXC_TRY(k, permute(node, k, {0, 1, 3, 2}));
  return node.call("matmul", {q, k});
}

/// Returns the softmax along the last dim; if `may_be_empty`, a row of -inf gives zeros instead of NaN.
Result<Value*> probabilities(Node& node, Value* scores, bool may_be_empty) {
  RELAXC_TRY(Value * soft, node.call("nn.softmax", {scores}, {{"axis", int64_t{-1}}}));
  if (!may_be_empty) return soft;
  RELAXC_TRY(Value * most, node.call("max", {scores}, {{"axis", Ints{-1}}, {"keepdims", true}}));
  Value* nothing = node.scalar(scores->dtype(), -std::numeric_limits<double>::infinity());
  RELAXC_TRY(Value * empty, node.call("equal", {most, nothing}));
  return node.call("where", {empty, node.scalar(scores->dtype(), 0), soft});
}

/// Builds the visibility of keys: a bool tensor that broadcasts to [B, heads, S, T], false where a key is hidden.
class Visibility {
 public:
  Visibility(Node& node, Expr queries, Expr keys, Expr past)
      : node_(node), queries_(queries), keys_(keys), past_(past) {}

  /// Returns that tensor, or null if every key is visible. `lengths` [B] of int64: number of valid keys; may be null.
  Result<Value*> allowed(Value* lengths) {
    int64_t left = node_.int_attr("left_window_size", -1), right = node_.int_attr("right_window_size", -1);
    bool causal = node_.int_attr("is_causal", 0) != 0;
    if (causal) right = 0;
    if (lengths != nullptr) {
      RELAXC_DO(expect_rank(node_, lengths, 1, "nonpad_kv_seqlen"));
      RELAXC_TRY(lengths, astype(node_, lengths, DType::i(64)));
      RELAXC_TRY(lengths,
                 reshape(node_, lengths, {lengths->shape()[0], node_.index(1), node_.index(1), node_.index(1)}));
    }
    if (left < 0 && right < 0 && lengths == nullptr) return static_cast<Value*>(nullptr);
    RELAXC_TRY(Value * key, positions(node_.index(0), keys_, {node_.index(1), keys_}));
    if (lengths != nullptr) RELAXC_DO(also(node_.call("less", {key, lengths})));
    if (left < 0 && right < 0) return all_;
    RELAXC_TRY(Value * query, positions(past_, queries_, {queries_, node_.index(1)}));
    if (lengths != nullptr) {  // the last query is at the last valid key
      RELAXC_TRY(Value * count, node_.call("shape_to_tensor", {node_.shape({queries_})}));
      RELAXC_TRY(Value * offset, node_.call("subtract", {lengths, count}));
      RELAXC_TRY(query, node_.call("add", {query, offset}));
    }
    if (right >= 0) {
      RELAXC_TRY(Value * last, node_.call("add", {query, node_.scalar(DType::i(64), static_cast<double>(right))}));
      RELAXC_DO(also(node_.call("less_equal", {key, last})));
    }
    if (left >= 0) {
      RELAXC_TRY(Value * first, node_.call("subtract", {query, node_.scalar(DType::i(64), static_cast<double>(left))}));
      RELAXC_DO(also(node_.call("greater_equal", {key, first})));
    }
    return all_;
  }

 private:
  Result<Value*> positions(Expr from, Expr count, std::vector<Expr> dims) {
    RELAXC_TRY(Value * list, node_.call("arange", {node_.shape({from, count, node_.index(1)})}));
    return reshape(node_, list, std::move(dims));
  }

  Status also(Result<Value*> condition) {
    Diagnostics& diag = node_.diag;
    if (!condition) return diag.failed();
    if (all_ == nullptr) {
      all_ = *condition;
      return Done{};
    }
    RELAXC_TRY(all_, node_.call("logical_and", {all_, *condition}));
    return Done{};
  }

  Node& node_;
  Expr queries_, keys_, past_;
  Value* all_ = nullptr;
};

/// Returns the mask with its last dim padded to `keys` by the value that hides a key.
Result<Value*> full_mask(Node& node, Value* mask, Expr keys) {
  const std::vector<Expr>& dims = mask->shape();
  if (dims.empty() || arith::prove_equal(dims.back(), keys, node.facts()) ||
      arith::prove_equal(dims.back(), node.index(1)))
    return mask;
  std::vector<Expr> pads(2 * dims.size(), node.index(0));
  pads.back() = node.simplify(keys - dims.back());
  double hidden = mask->dtype() == DType::boolean() ? 0 : -std::numeric_limits<double>::infinity();
  return node.call("pad", {mask, node.shape(std::move(pads)), node.scalar(mask->dtype(), hidden)});
}

/// The operands as [B, heads, length, size], with caches prepended to keys and values.
struct Operands {
  Value *q = nullptr, *k = nullptr, *v = nullptr;
  Expr past;            ///< keys before those of this call
  bool packed = false;  ///< the result has 3 dims
};

Result<Operands> operands_of(Node& node) {
  Operands o;
  RELAXC_TRY(o.q, node.input(0));
  RELAXC_TRY(o.k, node.input(1));
  RELAXC_TRY(o.v, node.input(2));
  o.packed = o.q->shape().size() == 3;
  int64_t heads = node.int_attr("q_num_heads", 0), shared = node.int_attr("kv_num_heads", heads);
  RELAXC_TRY(o.q, heads_first(node, o.q, heads));
  RELAXC_TRY(o.k, heads_first(node, o.k, shared));
  RELAXC_TRY(o.v, heads_first(node, o.v, shared));
  o.past = node.index(0);
  for (size_t i = 0; i < 2; ++i) {
    RELAXC_TRY(Value * cache, node.optional_input(4 + i));
    Value*& present = i == 0 ? o.k : o.v;
    if (cache != nullptr) {
      if (cache->shape().size() != 4)
        return node.error(Kind::rank_mismatch, "a cache must have 4 dims, found {}", relax::to_string(cache->info));
      if (i == 0) o.past = cache->shape()[2];
      RELAXC_TRY(present, node.call("concat", {cache, present}, {{"axis", int64_t{2}}}));
    }
    if (node.wants(1 + i)) RELAXC_DO(node.set(1 + i, present));
  }
  return o;
}

/// Sets output 3 to the scores if the node asks for them at this point; they can be taken at four points.
Status show_scores(Node& node, Value* scores, int64_t point) {
  if (!node.wants(3) || node.int_attr("qk_matmul_output_mode", 0) != point) return Done{};
  return node.set(3, scores);
}

/// Returns the scores with mask and visibility applied; `may_be_empty` receives whether a row may see no key at all.
Result<Value*> masked(Node& node, Value* scores, const Operands& o, bool& may_be_empty) {
  RELAXC_TRY(Value * mask, node.optional_input(3));
  RELAXC_TRY(Value * lengths, node.optional_input(6));
  Expr keys = o.k->shape()[2];
  RELAXC_TRY(Value * allowed, Visibility(node, o.q->shape()[2], keys, o.past).allowed(lengths));
  Value* hidden = node.scalar(scores->dtype(), -std::numeric_limits<double>::infinity());
  may_be_empty = mask != nullptr || allowed != nullptr;
  if (mask != nullptr) {
    RELAXC_TRY(mask, full_mask(node, mask, keys));
    if (mask->dtype() == DType::boolean()) {
      RELAXC_TRY(scores, node.call("where", {mask, scores, hidden}));
    } else {
      RELAXC_TRY(mask, astype(node, mask, scores->dtype()));
      RELAXC_TRY(scores, node.call("add", {scores, mask}));
    }
  }
  return allowed == nullptr ? Result<Value*>(scores) : node.call("where", {allowed, scores, hidden});
}

/// softmax(cap(q k^T * scale) + mask) v
Status attention(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Operands o, operands_of(node));
  RELAXC_TRY(Value * scale, head_scale(node, o.q->shape()[3], o.q->dtype()));
  RELAXC_TRY(Value * scores, scores_of(node, o.q, o.k, scale));
  RELAXC_DO(show_scores(node, scores, 0));
  if (double cap = node.float_attr("softcap", 0); cap != 0) {
    Value* limit = node.scalar(scores->dtype(), cap);
    RELAXC_TRY(scores, node.call("divide", {scores, limit}));
    RELAXC_TRY(scores, node.call("tanh", {scores}));
    RELAXC_TRY(scores, node.call("multiply", {scores, limit}));
  }
  RELAXC_DO(show_scores(node, scores, 1));
  bool may_be_empty = false;
  RELAXC_TRY(scores, masked(node, scores, o, may_be_empty));
  RELAXC_DO(show_scores(node, scores, 2));
  if (node.has_attr("softmax_precision")) {
    RELAXC_TRY(DType precise,
               dtype_of(static_cast<int32_t>(node.int_attr("softmax_precision", 1)), node.location, diag));
    RELAXC_TRY(scores, astype(node, scores, precise));
  }
  RELAXC_TRY(Value * weights, probabilities(node, scores, may_be_empty));
  RELAXC_TRY(weights, astype(node, weights, o.q->dtype()));
  RELAXC_DO(show_scores(node, weights, 3));
  RELAXC_TRY(weights, astype(node, weights, o.v->dtype()));
  RELAXC_TRY(Value * values, shared_heads(node, o.v, o.q->shape()[1]));
  RELAXC_TRY(Value * y, node.call("matmul", {weights, values}));
  if (o.packed) {
    RELAXC_TRY(y, heads_last(node, y));
  }
  return node.set(0, y);
}

/// Returns the result of the subgraph `name` on `x`; `x` itself if the node has no such subgraph.
Result<Value*> modified(Node& node, const char* name, Value* x) {
  const onnx::AttributeProto* graph = node.attribute(name);
  if (graph == nullptr || !graph->has_g()) return x;
  NamedValue argument;
  argument.value = x;
  RELAXC_TRY(std::vector<NamedValue> made,
             node.importer().inline_graph(graph->g(), {argument}, node.builder().block()));
  if (made.size() != 1 || made[0].value == nullptr)
    return node.error(Kind::malformed_model, "{} must give one tensor", name);
  if (!relax::same(made[0].value->info, x->info))
    return node.error(Kind::shape_mismatch, "{} must keep {}, found {}", name, relax::to_string(x->info),
                      relax::to_string(made[0].value->info));
  return made[0].value;
}

Status flex_attention(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * q, node.input(0));
  RELAXC_TRY(Value * k, node.input(1));
  RELAXC_TRY(Value * v, node.input(2));
  for (Value* operand : {q, k, v})
    if (operand->shape().size() != 4)
      return node.error(Kind::rank_mismatch, "its operands must have 4 dims, found {}",
                        relax::to_string(operand->info));
  DType precise = q->dtype() == DType::f(64) ? DType::f(64) : DType::f(32);
  if (node.has_attr("softmax_precision")) {
    RELAXC_TRY(precise, dtype_of(static_cast<int32_t>(node.int_attr("softmax_precision", 1)), node.location, diag));
  }
  DType given = q->dtype();
  for (Value** operand : {&q, &k, &v}) {
    RELAXC_TRY(*operand, astype(node, *operand, precise));
  }
  RELAXC_TRY(Value * scale, head_scale(node, q->shape()[3], precise));
  RELAXC_TRY(Value * scores, scores_of(node, q, k, scale));
  RELAXC_TRY(scores, modified(node, "score_mod", scores));
  RELAXC_TRY(Value * weights, node.call("nn.softmax", {scores}, {{"axis", int64_t{-1}}}));
  RELAXC_TRY(weights, modified(node, "prob_mod", weights));
  RELAXC_TRY(v, shared_heads(node, v, q->shape()[1]));
  RELAXC_TRY(Value * y, node.call("matmul", {weights, v}));
  return node.set(0, astype(node, y, given));
}

/// Returns the rows of a cache at the given positions as [B, 1, S, half]; without positions, the whole cache.
Result<Value*> rotation(Node& node, size_t input, Value* positions) {
  RELAXC_TRY(Value * cache, node.input(input));
  if (positions != nullptr) {
    RELAXC_TRY(cache, node.call("take", {cache, positions}, {{"axis", int64_t{0}}}));
  }
  if (cache->shape().size() != 3)
    return node.error(Kind::rank_mismatch, "the cache must give 3 dims (batch, sequence, half), found {}",
                      relax::to_string(cache->info));
  return node.call("expand_dims", {cache}, {{"axis", Ints{1}}});
}

/// Rotates pairs of channels by their position's angle; pairs span a head's halves, or are neighbours (interleaved).
Status rotary_embedding(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * positions, node.optional_input(3));
  bool packed = x->shape().size() == 3, neighbours = node.int_attr("interleaved", 0) != 0;
  RELAXC_TRY(x, heads_first(node, x, node.int_attr("num_heads", 0)));
  int64_t asked = node.int_attr("rotary_embedding_dim", 0);
  Expr turned = asked == 0 ? x->shape()[3] : node.index(asked);
  RELAXC_TRY(Value * cosine, rotation(node, 1, positions));
  RELAXC_TRY(Value * sine, rotation(node, 2, positions));
  RELAXC_TRY(Value * y, rotated(node, x, cosine, sine, turned, neighbours));
  if (packed) {
    RELAXC_TRY(y, heads_last(node, y));
  }
  return node.set(0, y);
}

constexpr Converter kRows[] = {
    {.name = "Attention", .convert = attention},
    {.name = "FlexAttention", .convert = flex_attention, .domain = "ai.onnx.preview"},
    {.name = "RotaryEmbedding", .convert = rotary_embedding},
};

}  // namespace
}  // namespace relaxc::frontend::attention_family

namespace relaxc::frontend {

Result<Value*> heads_first(Node& node, Value* x, int64_t heads) {
  const std::vector<Expr> dims = x->shape();
  if (dims.size() == 4) return x;
  if (dims.size() != 3)
    return node.error(Kind::rank_mismatch, "its operands must have 3 or 4 dims, found {}", relax::to_string(x->info));
  if (heads <= 0)
    return node.error(Kind::invalid_attribute, "operands of 3 dims need the number of heads, found {}", heads);
  Expr size = node.simplify(arith::floordiv(dims[2], heads));
  if (const int64_t* all = dims[2].constant(); all != nullptr && *all % heads != 0)
    return node.error(Kind::shape_mismatch, "{} channels do not divide into {} heads", *all, heads);
  RELAXC_TRY(x, reshape(node, x, {dims[0], dims[1], node.index(heads), size}));
  return attention_family::permute(node, x, {0, 2, 1, 3});
}

Result<Value*> heads_last(Node& node, Value* x) {
  const std::vector<Expr> dims = x->shape();
  RELAXC_TRY(x, attention_family::permute(node, x, {0, 2, 1, 3}));
  return reshape(node, x, {dims[0], dims[2], node.simplify(dims[1] * dims[3])});
}

Result<Value*> shared_heads(Node& node, Value* x, Expr heads) {
  const std::vector<Expr> dims = x->shape();
  if (arith::prove_equal(heads, dims[1], node.facts())) return x;
  const int64_t *all = heads.constant(), *shared = dims[1].constant();
  if (all != nullptr && shared != nullptr && (*shared <= 0 || *all % *shared != 0))
    return node.error(Kind::shape_mismatch, "{} heads of queries do not divide over {} heads of keys", *all, *shared);
  Expr group = node.simplify(arith::floordiv(heads, dims[1]));
  RELAXC_TRY(x, reshape(node, x, {dims[0], dims[1], node.index(1), dims[2], dims[3]}));
  RELAXC_TRY(x, node.call("broadcast_to", {x, node.shape({dims[0], dims[1], group, dims[2], dims[3]})}));
  return reshape(node, x, {dims[0], heads, dims[2], dims[3]});
}

Result<Value*> rotated(Node& node, Value* x, Value* cosine, Value* sine, Expr turned, bool neighbours) {
  std::vector<Expr> dims = x->shape();
  const int64_t *asked = turned.constant(), *size = dims[3].constant();
  if (asked != nullptr && (*asked < 0 || *asked % 2 != 0 || (size != nullptr && *asked > *size)))
    return node.error(Kind::invalid_attribute, "{} of {} channels cannot be turned in pairs", *asked,
                      arith::to_string(dims[3]));
  Expr half = node.simplify(arith::floordiv(turned, 2)), zero = node.index(0);
  if (turned == dims[3]) {
    dims[3] = turned = node.simplify(half * 2);
    RELAXC_TRY(x, with_shape(node, x, dims, "turning channels in pairs"));
  }
  for (Value** angles : {&cosine, &sine}) {
    std::vector<Expr> wanted = (*angles)->shape();
    wanted.back() = half;
    RELAXC_TRY(*angles, with_shape(node, *angles, std::move(wanted), "the number of turned channels"));
  }
  bool whole = arith::prove_equal(turned, dims[3], node.facts());
  Value* channels = x;
  if (!whole) {
    RELAXC_TRY(channels, attention_family::last_part(node, x, zero, turned));
  }
  RELAXC_TRY(Value * y, node.call("nn.rotary_embedding", {channels, cosine, sine}, {{"interleaved", neighbours}}));
  if (whole) return y;
  RELAXC_TRY(Value * rest, attention_family::last_part(node, x, turned, dims[3]));
  return node.call("concat", {y, rest}, {{"axis", int64_t{3}}});
}

std::optional<double> known_head_scale(Node& node, Expr size) {
  if (double given = node.float_attr("scale", 0); given != 0) return given;
  const int64_t* number = size.constant();
  return number != nullptr && *number > 0 ? std::optional(1 / std::sqrt(static_cast<double>(*number))) : std::nullopt;
}

Result<Value*> head_scale(Node& node, Expr size, DType dtype) {
  if (std::optional<double> known = known_head_scale(node, size)) return node.scalar(dtype, *known);
  if (size.constant() != nullptr)
    return node.error(Kind::shape_mismatch, "heads of size {} have no default scale", arith::to_string(size));
  RELAXC_TRY(Value * root, node.call("shape_to_tensor", {node.shape({size})}));
  RELAXC_TRY(root, reshape(node, root, {}));
  RELAXC_TRY(root, astype(node, root, DType::f(64)));
  RELAXC_TRY(root, node.call("sqrt", {root}));
  RELAXC_TRY(root, node.call("divide", {node.scalar(DType::f(64), 1), root}));
  return astype(node, root, dtype);
}

}  // namespace relaxc::frontend

RELAXC_CONVERTERS(attention, kRows)
