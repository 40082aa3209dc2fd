// recurrent_mixing.cpp: alternatives to attention in recurrent language models: a state that every step updates, and a
// short convolution along time.
#include "frontends/onnx/attention.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::recurrent_mixing_family {
namespace {

/// Reshapes [B, T, heads * size] to [B, T, heads, size].
Result<Value*> unpacked(Node& node, Value* x, int64_t heads) {
  const std::vector<Expr> dims = x->shape();
  if (dims.size() != 3 || heads <= 0)
    return node.error(Kind::rank_mismatch, "its operands must be [batch, time, heads * size], found {} for {} heads",
                      relax::to_string(x->info), heads);
  return reshape(node, x, {dims[0], dims[1], node.index(heads), node.simplify(arith::floordiv(dims[2], heads))});
}

Status linear_attention(Node& node) {
  int64_t heads = node.int_attr("q_num_heads", 0), shared = node.int_attr("kv_num_heads", 0);
  std::vector<Value*> operands(6);
  for (size_t i = 0; i < operands.size(); ++i) {
    RELAXC_TRY(operands[i], node.optional_input(i));
  }
  std::string rule = node.string_attr("update_rule", "gated_delta");
  bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear")
    return node.error(Kind::invalid_attribute, "update_rule '{}' is not one of linear, gated, delta, gated_delta",
                      rule);
  if (!gated) operands[4] = nullptr;
  if (!delta) operands[5] = nullptr;
  if ((gated && operands[4] == nullptr) || (delta && operands[5] == nullptr))
    return node.error(Kind::wrong_arity, "update_rule '{}' needs {}", rule, gated ? "decay" : "beta");
  for (size_t i : {0, 1, 2, 4}) {
    if (operands[i] == nullptr) continue;
    RELAXC_TRY(operands[i], unpacked(node, operands[i], i == 0 ? heads : shared));
  }
  Expr size = operands[0]->shape()[3];
  Attrs attrs{{"delta", delta}};
  std::optional<double> scale = known_head_scale(node, size);
  if (scale) attrs.set("scale", *scale);  // as an attribute, it is applied before the sum is rounded
  RELAXC_TRY(std::vector<Value*> made, node.call_many("nn.linear_attention", operands, std::move(attrs)));
  if (!scale) {
    RELAXC_TRY(Value * factor, head_scale(node, size, operands[0]->dtype()));
    RELAXC_TRY(made[0], node.call("multiply", {made[0], factor}));
  }
  const std::vector<Expr> dims = made[0]->shape();
  RELAXC_DO(node.set(0, reshape(node, made[0], {dims[0], dims[1], node.simplify(dims[2] * dims[3])})));
  return node.wants(1) ? node.set(1, made[1]) : Status(Done{});
}

/// Converts a causal convolution along time; the last k - 1 elements are the state for the next call.
Status causal_conv(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * weight, node.input(1));
  RELAXC_TRY(Value * bias, node.optional_input(2));
  RELAXC_TRY(Value * past, node.optional_input(3));
  const std::vector<Expr> dims = x->shape();
  if (dims.size() != 3 || weight->shape().size() != 3)
    return node.error(Kind::rank_mismatch, "it takes [batch, channels, length] and [channels, 1, k], found {} and {}",
                      relax::to_string(x->info), relax::to_string(weight->info));
  std::string activation = node.string_attr("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return node.error(Kind::invalid_attribute, "activation '{}' is not one of none, silu, swish", activation);
  Expr reach = node.simplify(weight->shape()[2] - 1);
  if (past == nullptr) {
    RELAXC_TRY(past, node.call("zeros", {node.shape({dims[0], dims[1], reach})}, {{"dtype", x->dtype()}}));
  }
  RELAXC_TRY(Value * all, node.call("concat", {past, x}, {{"axis", int64_t{2}}}));
  RELAXC_TRY(Value * y, node.call("nn.conv", {all, weight}, {{"groups", int64_t{0}}}));
  if (bias != nullptr) {
    RELAXC_TRY(bias, reshape(node, bias, {dims[1], node.index(1)}));
    RELAXC_TRY(y, node.call("add", {y, bias}));
  }
  if (activation != "none") {
    RELAXC_TRY(y, node.call("nn.silu", {y}));
  }
  if (node.wants(1)) {
    RELAXC_DO(node.set(
        1, node.call("slice_part", {all, node.shape({dims[2]}), node.shape({reach})}, {{"axis", int64_t{2}}})));
  }
  return node.set(0, y);
}

constexpr Converter kRows[] = {
    {.name = "CausalConvWithState", .convert = causal_conv},
    {.name = "LinearAttention", .convert = linear_attention},
};

}  // namespace
}  // namespace relaxc::frontend::recurrent_mixing_family

RELAXC_CONVERTERS(recurrent_mixing, kRows)
