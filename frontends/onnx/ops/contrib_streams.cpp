// contrib_streams.cpp: operators between the layers of language models: mixed residual streams, gates, three rotations
// in one, and a penalty on repetition.
#include <limits>

#include "frontends/onnx/contrib_attend.h"

namespace relaxc::frontend::contrib_streams_family {
namespace {

constexpr DType kF32 = DType::f(32);

/// Converts LinearAttention and CausalConvWithState as operators of ai.onnx at opset 27.
template <const char* Op>
Status as_standard(Node& node) {
  if (node.int_attr("state_window", 0) != 0 || node.int_attr("dilation", 1) != 1 || node.int_attr("ndim", 1) != 1 ||
      node.int_attr("channels_last", 0) != 0)
    return node.error(Kind::unsupported,
                      "state_window, channels_last must be 0, dilation and ndim 1, as the operator of ONNX has them");
  if (node.int_attr("q_num_heads", 1) < node.int_attr("kv_num_heads", 1))
    return node.error(Kind::unsupported, "there must be at least as many heads of queries as of keys");
  return node.convert_as(Op, 27);
}
constexpr char kLinearAttention[] = "LinearAttention", kCausalConv[] = "CausalConvWithState";

/// Computes decay and update rate of a gated recurrence.
Status linear_attention_gate(Node& node) {
  ConversionBuilder c(node);
  Value *a = c.input(0), *b = c.optional(3);
  if (!c.ok()) return c.failed();
  Value* bias = c.as(c.input(1), kF32);
  Value* sum = c.add(c.as(a, kF32), bias);
  Value* rate = c.as(c.input(2), kF32);
  Value* decay = c.multiply(c.call("nn.softplus", {sum}), rate);
  RELAXC_DO(c.set(0, c.as(decay, a->dtype())));
  if (!node.wants(1)) return Done{};
  if (b == nullptr) return node.error(Kind::wrong_arity, "its second output needs input 3");
  return c.set(1, c.as(c.call("sigmoid", {c.as(b, kF32)}), b->dtype()));
}

/// Returns whether `x` has at least this many dims; else reports an error and makes `c` fail.
bool has_rank_from(ConversionBuilder& c, Value* x, int64_t least) {
  if (rank_of(x) >= least) return true;
  c.take(c.node.error(Kind::rank_mismatch, "an input must have {} dims or more, found {}", least,
                      relax::to_string(x->info)));
  return false;
}

/// Splits streams [..., C * H] to [..., C, H]; returns `x` if `branches` is 0.
Value* grouped(ConversionBuilder& c, Value* x, int64_t branches) {
  if (branches == 0 || !c.ok()) return x;
  if (!has_rank_from(c, x, 1)) return nullptr;
  std::vector<Expr> dims = x->shape();
  Expr width = c.node.simplify(arith::floordiv(dims.back(), branches));
  dims.back() = c.node.index(branches);
  dims.push_back(width);
  return c.reshape(x, std::move(dims));
}

/// Reshapes gates [..., C], [..., C, 1], [..., C, H] or [..., C * H] to broadcast with streams of `rank` dims.
Value* gates_for(ConversionBuilder& c, Value* gates, int64_t rank, int64_t branches) {
  if (!c.ok() || rank_of(gates) == rank) return gates;
  if (!has_rank_from(c, gates, 1)) return nullptr;
  const int64_t* last = gates->shape().at(gates->shape().size() - 1).constant();
  if (branches != 0 && last != nullptr && *last != branches) return grouped(c, gates, branches);
  return c.call("expand_dims", {gates}, {{"axis", Ints{-1}}});
}

/// Sums the streams, weighted by gates.
Status pre_mix(Node& node) {
  ConversionBuilder c(node);
  int64_t branches = node.int_attr("num_branches", 0);
  Value* x = grouped(c, c.input(0), branches);
  if (!c.ok()) return c.failed();
  DType dtype = x->dtype();
  Value* gates = gates_for(c, c.input(1), rank_of(x), branches);
  gates = c.as(gates, kF32);
  Value* sum = c.reduce("sum", c.multiply(c.as(x, kF32), gates), Ints{-2}, false);
  return c.set(0, c.as(c.multiply(sum, node.float_attr("reduction_scale", 1)), dtype));
}

/// Mixes the streams with each other, and adds the output of a block, times a gate, to each.
Status post_mix(Node& node) {
  ConversionBuilder c(node);
  int64_t branches = node.int_attr("num_branches", 0);
  Value *given = c.input(0), *mix = c.optional(3);
  Value* x = grouped(c, given, branches);
  if (!c.ok()) return c.failed();
  Value* streams = c.as(x, kF32);
  if (mix != nullptr && !has_rank_from(c, mix, 2)) return c.failed();
  if (mix != nullptr) {
    Ints axes;
    for (int64_t i = 0; i < rank_of(mix); ++i) axes.push_back(i);
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    streams = c.matmul(c.permute(c.as(mix, kF32), std::move(axes)), streams);
  }
  Value* gates = gates_for(c, c.input(2), rank_of(x), branches);
  Value* block = c.call("expand_dims", {c.as(c.input(1), kF32)}, {{"axis", Ints{-2}}});
  Value* y = c.as(c.add(streams, c.multiply(c.as(gates, kF32), block)), given->dtype());
  return c.set(0, c.reshape(y, given->shape()));
}

/// Returns x / sqrt(mean(x^2) + epsilon) * scale along the last dim.
Value* rms_norm(ConversionBuilder& c, Value* x, Value* scale) {
  Value* mean = c.reduce("mean", c.call("square", {x}), Ints{-1});
  Value* root = c.call("sqrt", {c.add(mean, c.node.float_attr("epsilon", 1e-5))});
  scale = c.as(scale, kF32);
  return c.multiply(c.divide(x, root), scale);
}

/// Multiplies a value by a gate of how well key and query agree; output 1 is the result, normalized.
Status engram_gate(Node& node) {
  ConversionBuilder c(node);
  Value *key = c.input(0), *query = c.input(1), *value = c.input(2);
  if (!c.ok()) return c.failed();
  Value* k = rms_norm(c, c.as(key, kF32), c.input(3));
  Value* q = rms_norm(c, c.as(query, kF32), c.input(4));
  Value* dot = c.reduce("sum", c.multiply(k, q), Ints{-1});
  if (!c.ok()) return c.failed();
  dot = c.multiply(dot, c.take(head_scale(node, key->shape().at(key->shape().size() - 1), kF32)));
  Value* size = c.call("sqrt", {c.call("maximum", {c.call("abs", {dot}), c.number(kF32, 1e-6)})});
  Value* gate = c.call("sigmoid", {c.multiply(c.call("sign", {dot}), size)});
  Value* y = c.multiply(gate, c.call("expand_dims", {c.as(value, kF32)}, {{"axis", Ints{2}}}));
  RELAXC_DO(c.set(0, c.as(y, value->dtype())));
  if (!node.wants(1)) return Done{};
  return c.set(1, c.as(rms_norm(c, y, c.input(5)), value->dtype()));
}

/// Returns which of a token's three positions rotates each pair of channels.
Result<Ints> streams_of_channels(Node& node, int64_t half) {
  Ints section = node.ints_attr("mrope_section");
  int64_t layout = node.int_attr("mrope_layout", 0);
  if (section.size() != 3 || section[0] + section[1] + section[2] != half || (layout != 0 && layout != 1))
    return node.error(Kind::invalid_attribute,
                      "mrope_section must have 3 numbers whose sum is {}, mrope_layout must be 0 or 1", half);
  Ints stream;
  for (int64_t k = 0; k < half; ++k) {
    int64_t turn = k % 3;
    if (layout == 0)
      stream.push_back(k < section[0] ? 0 : k < section[0] + section[1] ? 1 : 2);
    else
      stream.push_back(turn != 0 && k < section[static_cast<size_t>(turn)] * 3 ? turn : 0);
  }
  return stream;
}

/// Converts RotaryEmbedding with three positions per token: time, and height and width in an image.
Status multimodal_rotary(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *ids = c.input(1);
  if (!c.ok()) return c.failed();
  if (node.float_attr("scale", 1) != 1 || node.int_attr("is_packed_batching", 0) != 0)
    return node.error(Kind::unsupported, "scale must be 1 and is_packed_batching 0");
  RELAXC_DO(expect_rank(node, ids, 3, "position_ids"));
  std::vector<Value*> angles;
  for (size_t i : {2, 3}) {
    Value* table = c.input(i);
    if (!c.ok()) return c.failed();
    RELAXC_TRY(int64_t half,
               constant_dim(node, table->shape().at(table->shape().size() - 1), "the width of cos_cache"));
    RELAXC_TRY(Ints stream, streams_of_channels(node, half));
    std::vector<Value*> parts;
    for (int64_t begin = 0, end = 0; begin < half; begin = end) {  // for each run of channels with the same position
      int64_t which = stream[static_cast<size_t>(begin)];
      while (end < half && stream[static_cast<size_t>(end)] == which) ++end;
      Value* position =
          c.call("squeeze", {c.slice(ids, 0, node.index(which), node.index(which + 1))}, {{"axis", Ints{0}}});
      Value* columns = c.slice(table, 1, node.index(begin), node.index(end));
      parts.push_back(c.call("take", {columns, position}, {{"axis", int64_t{0}}}));
    }
    Value* all = parts.size() == 1 ? parts[0] : c.concat(std::move(parts), 2);
    angles.push_back(c.as(c.call("expand_dims", {all}, {{"axis", Ints{1}}}), x->dtype()));
  }
  if (!c.ok()) return c.failed();
  bool packed = rank_of(x) == 3;
  int64_t heads = node.int_attr("num_heads", 0);
  Expr half = angles[0]->shape().back();
  if (packed && heads == 0) {
    RELAXC_TRY(int64_t width, constant_dim(node, x->shape().at(2), "the width of the input"));
    heads = width / (2 * *half.constant());
  }
  RELAXC_TRY(x, heads_first(node, x, heads));
  bool neighbours = node.int_attr("interleaved", 0) != 0;
  Value* y = c.take(rotated(node, x, angles[0], angles[1], node.simplify(half * 2), neighbours));
  return c.set(0, packed && c.ok() ? c.take(heads_last(node, y)) : y);
}

/// Sets the scores of tokens to -inf that would complete a repetition of an earlier n-gram.
Status no_repeated_ngram(Node& node) {
  ConversionBuilder c(node);
  Value *ids = c.input(0), *scores = c.input(1);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, ids, 2, "input_ids"));
  int64_t n = node.int_attr("ngram_size", 0);
  if (n < 1) return node.error(Kind::invalid_attribute, "ngram_size {} is not positive", n);
  Expr batch = ids->shape().at(0), length = ids->shape().at(1), zero = node.index(0);
  Expr windows = node.simplify(arith::max(zero, length - (n - 1)));
  auto column = [&](int64_t k) {  // token k of every window
    Value* padded = c.call("pad", {ids, node.shape({zero, zero, zero, node.index(n)})});
    return c.slice(padded, 1, node.index(k), node.simplify(windows + k));
  };
  Value* repeats = nullptr;
  for (int64_t k = 0; k + 1 < n; ++k) {
    Expr at = node.simplify(arith::max(zero, length - (n - 1) + k));
    Value* padded = c.call("pad", {ids, node.shape({zero, zero, zero, node.index(n)})});
    Value* same = c.call("equal", {column(k), c.slice(padded, 1, at, node.simplify(at + 1))});
    repeats = repeats == nullptr ? same : c.call("logical_and", {repeats, same});
  }
  double infinity = std::numeric_limits<double>::infinity();
  Value *low = c.like(scores, -infinity), *high = c.like(scores, infinity);
  Value* penalty =
      repeats == nullptr ? c.call("broadcast_to", {low, node.shape({batch, windows})}) : c.where(repeats, low, high);
  return c.set(0, c.call("scatter_elements", {scores, c.as(column(n - 1), DType::i(64)), penalty},
                         {{"axis", int64_t{1}}, {"reduction", std::string("min")}}));
}

Status echo(Node& node) {
  return node.forward(0, 0);
}

constexpr Converter kRows[] = {
    {.name = "CausalConvWithState",
     .convert = as_standard<kCausalConv>,
     .note = "as ONNX defines it",
     .domain = kMicrosoft},
    {.name = "LinearAttention",
     .convert = as_standard<kLinearAttention>,
     .note = "as ONNX defines it",
     .domain = kMicrosoft},
    {.name = "LinearAttentionGate", .convert = linear_attention_gate, .domain = kMicrosoft},
    {.name = "HyperConnectionPreMix", .convert = pre_mix, .domain = kMicrosoft},
    {.name = "HyperConnectionPostMix", .convert = post_mix, .domain = kMicrosoft},
    {.name = "EngramGate", .convert = engram_gate, .domain = kMicrosoft},
    {.name = "MRotaryEmbedding", .convert = multimodal_rotary, .note = "no packed batches", .domain = kMicrosoft},
    {.name = "NGramRepeatBlock", .convert = no_repeated_ngram, .domain = kMicrosoft},
    {.name = "SampleOp", .convert = echo, .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend::contrib_streams_family

RELAXC_CONVERTERS(contrib_streams, kRows)
