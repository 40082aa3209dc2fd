// contrib_fused.cpp: pairs and triples of operators that ONNX Runtime's optimizer fuses: products and convolutions with
// an activation, the family of GELUs, biases.
//
// Each is split again: relaxc makes its own decisions on fusion.
#include "frontends/onnx/activation.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::contrib_fused_family {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

struct Parameter {
  const char* name;
  double fallback;
};
struct Activation {
  std::string_view name;
  OpName ours;
  std::vector<Parameter> parameters = {};
};

const Activation* find_activation(std::string_view name, const std::vector<Activation>& known) {
  for (const Activation& one : known)
    if (one.name == name) return &one;
  return nullptr;
}

/// Returns alpha, beta and gamma from the attributes activation_alpha, _beta and _gamma.
std::vector<std::optional<double>> listed_parameters(Node& node) {
  std::vector<std::optional<double>> given;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    given.push_back(node.has_attr(name) ? std::optional(node.float_attr(name, 0)) : std::nullopt);
  return given;
}

/// Converts Conv with an addend Z of the result's shape and an activation; `Last`: X, Z and Y are channels-last.
template <bool Last>
Status fused_conv(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *weight = c.input(1), *bias = c.optional(2), *addend = c.optional(3);
  if (!c.ok()) return c.failed();
  if (Last) x = c.channels_first(x);
  Value* y = c.onnx("Conv", 11, {x, weight, bias});
  if (Last) y = c.channels_last(y);
  y = c.plus(y, addend);
  std::vector<std::optional<double>> parameters;
  for (double value : node.floats_attr("activation_params")) parameters.emplace_back(value);
  y = activated(c, y, node.string_attr("activation", ""), parameters);
  return c.set(0, y);
}

Status fused_gemm(Node& node) {
  ConversionBuilder c(node);
  Value *a = c.input(0), *b = c.input(1), *addend = c.optional(2);
  Value* y = c.onnx("Gemm", 13, {a, b, addend});
  return c.set(0, activated(c, y, node.string_attr("activation", ""), listed_parameters(node)));
}

/// Returns an operand of FusedMatMul in matmul's layout. `batch`: the rows are dim 0, before the batch dims.
Value* arranged(ConversionBuilder& c, Value* x, bool transposed, bool batch) {
  if (!c.ok() || rank_of(x) < 2) return x;
  int64_t rank = rank_of(x);
  Ints axes;
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  if (batch) std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
  if (transposed) std::swap(axes[static_cast<size_t>(rank - 1)], axes[static_cast<size_t>(rank - 2)]);
  bool changed = batch ? rank > 2 || transposed : transposed;
  return changed ? c.permute(x, std::move(axes)) : x;
}

Status fused_matmul(Node& node) {
  ConversionBuilder c(node);
  Value* a = arranged(c, c.input(0), node.int_attr("transA", 0) != 0, node.int_attr("transBatchA", 0) != 0);
  Value* b = arranged(c, c.input(1), node.int_attr("transB", 0) != 0, node.int_attr("transBatchB", 0) != 0);
  Value* y = c.multiply(c.matmul(a, b), node.float_attr("alpha", 1));
  return c.set(0, activated(c, y, node.string_attr("activation", ""), listed_parameters(node)));
}

/// Computes gelu(x + bias), by erf or by tanh.
template <bool Tanh>
Status biased_gelu(Node& node) {
  ConversionBuilder c(node);
  Value* x = c.plus(c.input(0), c.optional(1));
  return c.set(0, c.call("nn.gelu", {x}, {{"approximate", std::string(Tanh ? "tanh" : "none")}}));
}

Status gemm_fast_gelu(Node& node) {
  ConversionBuilder c(node);
  Value* x = c.plus(c.matmul(c.input(0), c.input(1)), c.optional(2));
  return c.set(0, c.call("nn.gelu", {x}, {{"approximate", std::string("tanh")}}));
}

/// Computes x * sigmoid(alpha * x).
Status quick_gelu(Node& node) {
  ConversionBuilder c(node);
  Value* x = c.input(0);
  Value* gate = c.call("sigmoid", {c.multiply(x, node.float_attr("alpha", 1.702F))});
  return c.set(0, c.multiply(x, gate));
}

/// Computes silu(scale * x); the scale is an input or the attribute alpha.
Status scaled_silu(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *scale = c.optional(1);
  Value* z = scale == nullptr ? c.multiply(x, node.float_attr("alpha", 1)) : c.multiply(x, scale);
  return c.set(0, c.call("nn.silu", {z}));
}

Status bias_add(Node& node) {
  ConversionBuilder c(node);
  return c.set(0, c.add(c.add(c.input(0), c.input(1)), c.input(2)));
}

/// Multiplies the first half of the channels by the GELU of the second half.
Status bias_split_gelu(Node& node) {
  ConversionBuilder c(node);
  Value* x = c.add(c.input(0), c.input(1));
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, x, 3, "the input"));
  Expr channels = x->shape().at(2), half = node.simplify(arith::floordiv(channels, 2));
  Value* gate = c.call("nn.gelu", {c.slice(x, 2, half, channels)});
  return c.set(0, c.multiply(c.slice(x, 2, node.index(0), half), gate));
}

Status gated_add(Node& node) {
  ConversionBuilder c(node);
  return c.set(0, c.add(c.input(0), c.multiply(c.input(1), c.input(2))));
}

/// Computes the softmax of data + bias, which broadcast, over all axes from `axis` on.
Status biased_softmax(Node& node) {
  ConversionBuilder c(node);
  Value* sum = c.add(c.input(0), c.input(1));
  if (!c.ok()) return c.failed();
  const std::vector<Expr> dims = sum->shape();
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", 1), rank_of(sum)));
  Expr rows = node.index(1), columns = rows;
  for (int64_t i = 0; i < rank_of(sum); ++i)
    (i < axis ? rows : columns) = (i < axis ? rows : columns) * dims[static_cast<size_t>(i)];
  Value* flat = c.reshape(sum, {node.simplify(rows), node.simplify(columns)});
  return c.set(0, c.reshape(c.call("nn.softmax", {flat}, {{"axis", int64_t{-1}}}), dims));
}

constexpr Converter kRows[] = {
    {.name = "FusedConv", .convert = fused_conv<false>, .domain = kMicrosoft},
    {.name = "NhwcFusedConv", .convert = fused_conv<true>, .domain = kMicrosoft},
    {.name = "NhwcConv", .convert = fused_conv<true>, .domain = kMicrosoft},
    {.name = "FusedGemm", .convert = fused_gemm, .domain = kMicrosoft},
    {.name = "FusedMatMul", .convert = fused_matmul, .domain = kMicrosoft},
    {.name = "FusedMatMulActivation", .convert = fused_matmul, .domain = kMicrosoft},
    {.name = "TransposeMatMul", .convert = fused_matmul, .domain = kMicrosoft},
    {.name = "Gelu", .convert = biased_gelu<false>, .domain = kMicrosoft},
    {.name = "BiasGelu", .convert = biased_gelu<false>, .domain = kMicrosoft},
    {.name = "FastGelu", .convert = biased_gelu<true>, .domain = kMicrosoft},
    {.name = "GemmFastGelu", .convert = gemm_fast_gelu, .domain = kMicrosoft},
    {.name = "QuickGelu", .convert = quick_gelu, .domain = kMicrosoft},
    {.name = "ScaledSiLU", .convert = scaled_silu, .domain = kMicrosoft},
    {.name = "BiasAdd", .convert = bias_add, .domain = kMicrosoft},
    {.name = "BiasSplitGelu", .convert = bias_split_gelu, .domain = kMicrosoft},
    {.name = "BiasSoftmax", .convert = biased_softmax, .domain = kMicrosoft},
    {.name = "GatedAdd", .convert = gated_add, .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend::contrib_fused_family

namespace relaxc::frontend {

Value* activated(ConversionBuilder& c, Value* x, const std::string& name,
                 const std::vector<std::optional<double>>& parameters) {
  const std::vector<contrib_fused_family::Activation> known = {
      {"Relu", "nn.relu"},
      {"Tanh", "tanh"},
      {"Sigmoid", "sigmoid"},
      {"Softplus", "nn.softplus"},
      {"Softsign", "nn.softsign"},
      {"HardSwish", "nn.hard_swish"},
      {"Gelu", "nn.gelu"},
      {"LeakyRelu", "nn.leaky_relu", {{"alpha", 0.01F}}},
      {"Elu", "nn.elu", {{"alpha", 1}}},
      {"Celu", "nn.celu", {{"alpha", 1}}},
      {"ThresholdedRelu", "nn.thresholded_relu", {{"alpha", 1}}},
      {"HardSigmoid", "nn.hard_sigmoid", {{"alpha", 0.2F}, {"beta", 0.5}}},
      {"Selu", "nn.selu", {{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}}},
  };
  auto given = [&](size_t i) { return i < parameters.size() ? parameters[i] : std::nullopt; };
  if (name.empty() || !c.ok()) return x;
  if (name == "Clip") {
    if (given(0)) x = c.call("maximum", {x, c.like(x, *given(0))});
    return given(1) ? c.call("minimum", {x, c.like(x, *given(1))}) : x;
  }
  const contrib_fused_family::Activation* found = find_activation(name, known);
  if (found == nullptr)
    return c.take(c.node.error(Kind::unsupported, "activation '{}' of a fused operator is not known", name));
  Attrs attrs;
  for (size_t i = 0; i < found->parameters.size(); ++i)
    attrs.set(found->parameters[i].name, given(i).value_or(found->parameters[i].fallback));
  return c.call(found->ours, {x}, std::move(attrs));
}

}  // namespace relaxc::frontend

RELAXC_CONVERTERS(contrib_fused, kRows)
