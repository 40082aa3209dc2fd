// contrib_moe.cpp: MoE and QMoE: mixtures of experts.
//
// A router's scores select k experts for each token. Tokens are repeated k times, each copy goes through the two layers
// of its expert, and the copies are summed with the scores as weights. Quantized experts are all dequantized first:
// constant weights become constants again.
#include <array>
#include <cstring>
#include <limits>

#include "frontends/onnx/blocks.h"
#include "frontends/onnx/converter.h"
#include "frontends/onnx/quantized.h"

namespace relaxc::frontend::contrib_moe_family {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

/// One layer of all experts: weights [experts, out, in] and biases [experts, out] or null.
struct Layer {
  Value *weights = nullptr, *bias = nullptr;

  /// Returns rows [R, in] multiplied by the layers of the experts `which` [R].
  Value* of(ConversionBuilder& c, Value* rows, Value* which) const {
    Value* y = c.call("expert_matmul", {rows, which, c.ok() ? c.as(weights, rows->dtype()) : nullptr});
    return bias == nullptr ? y : c.add(y, c.call("take", {bias, which}, {{"axis", int64_t{0}}}));
  }
};

/// The experts of each token, [tokens * k], and their weights in the sum, [tokens, k].
struct Routes {
  Value *which = nullptr, *weights = nullptr;
};

class Mixture {
 public:
  explicit Mixture(ConversionBuilder& c) : c_(c), node_(c.node), kind_(node_.string_attr("activation_type", "relu")) {}

  Status run(Layer first, Layer second, Layer gate, Value* router_weights) {
    Value *x = c_.input(0), *scores = c_.input(1);
    if (!c_.ok()) return c_.failed();
    const std::vector<Expr> dims = x->shape();
    if (dims.size() != 2 && dims.size() != 3)
      return node_.error(Kind::rank_mismatch, "the input must be [tokens, width] or [batch, length, width], found {}",
                         relax::to_string(x->info));
    RELAXC_DO(expect_rank(node_, scores, 2, "router_probs"));
    if (node_.int_attr("use_sparse_mixer", 0) != 0) return node_.error(Kind::unsupported, "use_sparse_mixer must be 0");
    count_ = node_.int_attr("k", 1);
    if (count_ < 1 || count_ > INT32_MAX) return node_.error(Kind::invalid_attribute, "k is {}", count_);
    tokens_ = scores->shape().at(0);
    Routes routes = route(scores, router_weights);
    Value* rows =
        c_.call("repeat", {c_.reshape(x, {tokens_, dims.back()})}, {{"repeats", count_}, {"axis", int64_t{0}}});
    Value* inner = first.of(c_, rows, routes.which);
    RELAXC_TRY(inner, activated(inner, gate.weights == nullptr ? nullptr : gate.of(c_, rows, routes.which)));
    Value* y = second.of(c_, inner, routes.which);
    if (!c_.ok()) return c_.failed();
    Expr k = node_.index(count_), one = node_.index(1);
    y = c_.as(c_.reshape(y, {tokens_, k, y->shape().at(1)}), DType::f(32));
    y = c_.reduce("sum", c_.multiply(y, c_.reshape(routes.weights, {tokens_, k, one})), Ints{1}, false);
    return c_.set(0, c_.as(c_.reshape(y, dims), x->dtype()));
  }

 private:
  /// Selects the k most probable experts. Their weights are the probabilities or `router_weights`, normalized if asked.
  Routes route(Value* scores, Value* router_weights) {
    Value* likely = c_.call("nn.softmax", {c_.as(scores, DType::f(32))}, {{"axis", int64_t{-1}}});
    if (!c_.ok()) return {};
    Value* k = node_.shape({node_.index(count_)});
    Result<std::vector<Value*>> best = node_.call_many("topk", {likely, k}, {{"axis", int64_t{-1}}});
    if (!best) return {c_.take(c_.failed()), nullptr};
    Value *weights = (*best)[0], *which = (*best)[1];
    if (router_weights != nullptr)
      weights = c_.call("gather_elements", {c_.as(router_weights, DType::f(32)), which}, {{"axis", int64_t{1}}});
    if (node_.int_attr("normalize_routing_weights", 0) != 0)
      weights = c_.divide(weights, c_.reduce("sum", weights, Ints{-1}));
    return {c_.reshape(which, {node_.simplify(tokens_ * count_)}), weights};
  }

  /// Returns the activation between the layers; `gate`: the result of the third layer, a factor, or null.
  Result<Value*> activated(Value* x, Value* gate) {
    if (!c_.ok()) return c_.failed();
    if (kind_ == "swiglu") return swiglu(x, gate);
    Value* y = nullptr;
    if (kind_ == "relu") y = c_.call("nn.relu", {x});
    if (kind_ == "gelu") y = c_.call("nn.gelu", {x}, {{"approximate", std::string("tanh")}});
    if (kind_ == "silu") y = c_.call("nn.silu", {x});
    if (kind_ == "identity") y = x;
    if (y == nullptr)
      return node_.error(Kind::invalid_attribute,
                         "activation_type '{}' is not one of relu, gelu, silu, swiglu, identity", kind_);
    if (gate != nullptr) y = c_.multiply(y, gate);
    return c_.ok() ? Result<Value*>(y) : c_.failed();
  }

  /// Computes G * sigmoid(alpha * G) * (L + beta); G and L are neighbours, halves, or results of layers 1 and 3.
  Result<Value*> swiglu(Value* x, Value* linear) {
    Expr rows = x->shape().at(0), width = node_.simplify(arith::floordiv(x->shape().at(1), 2)), two = node_.index(2);
    int64_t fusion = node_.int_attr("swiglu_fusion", 0);
    Value* gate = x;
    if (fusion == 1) {
      Value* pairs = c_.reshape(x, {rows, width, two});
      auto part = [&](int64_t i) {
        return c_.reshape(c_.slice(pairs, 2, node_.index(i), node_.index(i + 1)), {rows, width});
      };
      gate = part(0), linear = part(1);
    } else if (fusion == 2) {
      gate = c_.slice(x, 1, node_.index(0), width), linear = c_.slice(x, 1, width, x->shape().at(1));
    } else if (linear == nullptr) {
      return node_.error(Kind::wrong_arity, "swiglu without fusion needs fc3_experts_weights");
    }
    double limit = node_.float_attr("swiglu_limit", std::numeric_limits<double>::infinity());
    if (limit < std::numeric_limits<double>::infinity()) {
      gate = c_.call("minimum", {gate, c_.like(gate, limit)});
      linear = c_.call("maximum", {c_.call("minimum", {linear, c_.like(linear, limit)}), c_.like(linear, -limit)});
    }
    Value* open = c_.call("sigmoid", {c_.multiply(gate, node_.float_attr("activation_alpha", 1))});
    linear = c_.add(linear, node_.float_attr("activation_beta", 0));
    Value* y = c_.multiply(c_.multiply(gate, open), linear);
    return c_.ok() ? Result<Value*>(y) : c_.failed();
  }

  ConversionBuilder& c_;
  Node& node_;
  std::string kind_;
  int64_t count_ = 1;
  Expr tokens_;
};

Status mixture(Node& node) {
  ConversionBuilder c(node);
  Layer first{c.input(2), c.optional(3)}, second{c.input(4), c.optional(5)}, gate{c.optional(6), c.optional(7)};
  return c.ok() ? Mixture(c).run(first, second, gate, nullptr) : c.failed();
}

/// Reads a layer of packed integers: inputs from `at` on are weights, scales and biases; input `zero`: zero points.
Result<Layer> quantized_layer(ConversionBuilder& c, size_t at, size_t zero, const char* bits_name) {
  Node& node = c.node;
  Layer layer;
  Value *packed = c.optional(at), *scale = c.optional(at + 1), *zeros = c.optional(zero);
  layer.bias = c.optional(at + 2);
  if (!c.ok()) return c.failed();
  if (packed == nullptr) return layer;
  int64_t bits = node.int_attr(bits_name, node.int_attr("expert_weight_bits", 4));
  if (bits != 2 && bits != 4 && bits != 8)
    return node.error(Kind::unsupported, "weights of {} bits are not supported; 2, 4 and 8 are", bits);
  if (scale == nullptr) return node.error(Kind::wrong_arity, "quantized weights need scales");
  RELAXC_DO(expect_rank(node, packed, 3, "the packed weights"));
  if (rank_of(scale) != 2) RELAXC_DO(expect_rank(node, scale, 3, "scales"));
  if (zeros != nullptr) RELAXC_DO(expect_rank(node, zeros, rank_of(scale), "zero points"));
  Value* weights = unpacked_bits(c, packed, bits);
  if (!c.ok()) return c.failed();
  const std::vector<Expr> dims = weights->shape();
  bool rows = rank_of(scale) == 2;  // with one scale per row, a block is the whole row
  std::vector<Expr> grid = scale->shape();
  if (rows) grid.push_back(node.index(1));
  if (zeros != nullptr) {
    zeros = unpacked_bits(c, zeros, bits);
    if (!c.ok()) return c.failed();
    size_t last = zeros->shape().size() - 1;
    zeros = c.slice(zeros, static_cast<int64_t>(last), node.index(0), scale->shape().at(last));
    zeros = c.as(c.reshape(zeros, grid), DType::i(32));
  } else {
    zeros = c.number(DType::i(32), static_cast<double>(1 << (bits - 1)));
  }
  auto wide = [&](Value* x) { return c.call("expand_dims", {x}, {{"axis", Ints{3}}}); };
  std::vector<Expr> blocks{dims[0], dims[1], grid[2], node.simplify(arith::floordiv(dims[2], grid[2]))};
  Value* centered = c.reshape(c.as(weights, DType::i(32)), blocks);
  centered = c.subtract(centered, zeros != nullptr && c.ok() && rank_of(zeros) == 3 ? wide(zeros) : zeros);
  Value* factors = wide(c.as(c.reshape(scale, grid), DType::f(32)));
  Value* scaled = c.multiply(c.as(centered, DType::f(32)), factors);
  layer.weights = c.reshape(scaled, dims);
  return c.ok() ? Result<Layer>(layer) : c.failed();
}

/// The 16 values of float4 e2m1: a sign, two exponent bits, one mantissa bit.
constexpr std::array<float, 16> kFloat4 = {0.F,  0.5F,  1.F,  1.5F,  2.F,  3.F,  4.F,  6.F,
                                           -0.F, -0.5F, -1.F, -1.5F, -2.F, -3.F, -4.F, -6.F};

/// Returns the values of 4-bit floats, two per byte, times one narrow scale per block of `size`.
Value* float4_weights(ConversionBuilder& c, Value* packed, Value* scale, int64_t size) {
  Node& node = c.node;
  std::vector<std::byte> bytes(sizeof(kFloat4));
  std::memcpy(bytes.data(), kFloat4.data(), bytes.size());
  Value* table = node.builder().constant(relax::ConstantData::inline_bytes(DType::f(32), {16}, std::move(bytes)));
  Value* weights = c.call("take", {table, c.as(unpacked_bits(c, packed, 4), DType::i(64))}, {{"axis", int64_t{0}}});
  if (!c.ok()) return nullptr;
  std::vector<Expr> dims = weights->shape(), grid = dims, scales = dims;
  grid[2] = scales[2] = node.simplify(arith::floordiv(dims[2], size));
  grid.push_back(node.index(size)), scales.push_back(node.index(1));
  Value* factors = c.reshape(c.as(scale, DType::f(32)), scales);
  Value* scaled = c.multiply(c.reshape(weights, grid), factors);
  return c.reshape(scaled, dims);
}

/// Multiplies each square of `size` by `size` weights by its scale; squares at the edges may be smaller.
Value* by_squares(ConversionBuilder& c, Value* weights, Value* scale, int64_t size) {
  Value* each = c.as(scale, DType::f(32));
  for (int64_t axis : {1, 2}) {
    each = c.call("repeat", {each}, {{"repeats", size}, {"axis", axis}});
    if (c.ok()) each = c.slice(each, axis, c.node.index(0), weights->shape().at(static_cast<size_t>(axis)));
  }
  return c.multiply(weights, each);
}

/// Reads a layer whose weights are floats of 4 or 8 bits: inputs from `at` on are weights, scales and biases; input
/// `global` has one scale per expert.
Result<Layer> float_layer(ConversionBuilder& c, size_t at, size_t global, std::string_view kind) {
  Node& node = c.node;
  Layer layer;
  Value *stored = c.optional(at), *scale = c.optional(at + 1), *each = c.optional(global);
  layer.bias = c.optional(at + 2);
  if (!c.ok()) return c.failed();
  if (stored == nullptr) return layer;
  int64_t block = node.int_attr("block_size", 0);
  bool four = kind != "fp8", squares = !four && block > 0;
  if (rank_of(stored) != 3 || (four && stored->dtype() != DType::u(8)) || (!four && stored->dtype().bits != 8))
    return node.error(Kind::dtype_mismatch, "weights of {} must be [experts, out, in], packed in uint8 or float8",
                      kind);
  if (((four || squares) && scale == nullptr) || (!squares && each == nullptr))
    return node.error(Kind::wrong_arity, "weights of {} need {} scales", kind, squares || !four ? "their" : "both");
  if (four)
    layer.weights = float4_weights(c, stored, scale, kind == "nvfp4" ? 16 : 32);
  else
    layer.weights = c.as(stored, DType::f(32));
  if (squares) {
    layer.weights = by_squares(c, layer.weights, scale, block);
  } else if (c.ok()) {
    RELAXC_DO(expect_rank(node, each, 1, "the scale of each expert"));
    layer.weights = c.multiply(layer.weights, c.reshape(each, {each->shape().at(0), node.index(1), node.index(1)}));
  }
  return c.ok() ? Result<Layer>(layer) : c.failed();
}

Status float_mixture(Node& node, std::string_view kind) {
  ConversionBuilder c(node);
  if (kind != "fp8" && kind != "fp4" && kind != "nvfp4")
    return node.error(Kind::unsupported,
                      "quant_type '{}' is not one of int, fp8, fp4 and nvfp4, which keep activations", kind);
  if (node.has(8) && (kind != "fp8" || node.int_attr("block_size", 0) <= 0))
    return node.error(Kind::unsupported, "a third layer has no scale of its own here; fuse it with the first");
  RELAXC_TRY(Layer first, float_layer(c, 2, 15, kind));
  RELAXC_TRY(Layer second, float_layer(c, 5, 16, kind));
  RELAXC_TRY(Layer gate, float_layer(c, 8, 15, kind));
  return Mixture(c).run(first, second, gate, c.optional(14));
}

Status quantized_mixture(Node& node) {
  ConversionBuilder c(node);
  if (std::string kind = node.string_attr("quant_type", "int"); kind != "int") return float_mixture(node, kind);
  if (node.int_attr("weights_prepacked", -1) == 1)
    return node.error(Kind::unsupported, "weights in the layout of a device (weights_prepacked) are not supported");
  RELAXC_TRY(Layer first, quantized_layer(c, 2, 11, "fc1_expert_weight_bits"));
  RELAXC_TRY(Layer second, quantized_layer(c, 5, 12, "fc2_expert_weight_bits"));
  RELAXC_TRY(Layer gate, quantized_layer(c, 8, 13, "fc3_expert_weight_bits"));
  if (first.weights == nullptr || second.weights == nullptr)
    return node.error(Kind::wrong_arity, "fc1_experts_weights and fc2_experts_weights are needed");
  return Mixture(c).run(first, second, gate, c.optional(14));
}

constexpr Converter kRows[] = {
    {.name = "MoE", .convert = mixture, .note = "without the sparse mixer", .domain = kMicrosoft},
    {.name = "QMoE",
     .convert = quantized_mixture,
     .note = "without the sparse mixer and float8 activations",
     .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend::contrib_moe_family

RELAXC_CONVERTERS(contrib_moe, kRows)
