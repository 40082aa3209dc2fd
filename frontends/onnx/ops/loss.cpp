// loss.cpp: the two losses in exported training graphs: negative log likelihood and softmax cross entropy.
//
// Scores are [N, C, d1, …], targets are class numbers [N, d1, …]. The score of the target's class is gathered along C;
// an ignored target reads class 0 and has weight 0.
#include <algorithm>

#include "frontends/onnx/fold.h"

namespace relaxc::frontend::loss_family {
namespace {

using Ints = std::vector<int64_t>;

/// Computes reduction(-log_probability[target] * weight[target]).
Status negative_likelihood(Node& node, Value* scores, Value* target, Value* weights) {
  std::string reduction = node.string_attr("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return node.error(Kind::invalid_attribute, "reduction '{}' is not one of mean, sum, none", reduction);
  DType dtype = scores->dtype();
  RELAXC_TRY(target, astype(node, target, DType::i(64)));
  Value* keep = nullptr;
  if (node.has_attr("ignore_index")) {
    Value* ignored = node.builder().constant(relax::ConstantData::inline_bytes(
        DType::i(64), {}, relax::encode_scalar(DType::i(64), static_cast<double>(node.int_attr("ignore_index", 0)))));
    RELAXC_TRY(keep, node.call("not_equal", {target, ignored}));
    RELAXC_TRY(target, node.call("where", {keep, target, node.scalar(DType::i(64), 0)}));
  }
  RELAXC_TRY(Value * places, node.call("expand_dims", {target}, {{"axis", Ints{1}}}));
  RELAXC_TRY(Value * picked, node.call("gather_elements", {scores, places}, {{"axis", int64_t{1}}}));
  RELAXC_TRY(picked, node.call("squeeze", {picked}, {{"axis", Ints{1}}}));
  RELAXC_TRY(Value * loss, node.call("negative", {picked}));
  Value* weight = nullptr;
  if (weights != nullptr) {
    RELAXC_TRY(weight, node.call("take", {weights, target}, {{"axis", int64_t{0}}}));
  }
  if (keep != nullptr) {
    RELAXC_TRY(Value * kept, astype(node, keep, dtype));
    if (weight == nullptr) {
      weight = kept;
    } else {
      RELAXC_TRY(weight, node.call("multiply", {weight, kept}));
    }
  }
  if (weight != nullptr) {
    RELAXC_TRY(loss, node.call("multiply", {loss, weight}));
  }
  if (reduction == "none") return node.set(0, loss);
  Attrs all{{"axis", Ints{}}, {"keepdims", false}};
  if (reduction == "mean" && weight == nullptr) return node.set(0, node.call("mean", {loss}, all));
  RELAXC_TRY(Value * sum, node.call("sum", {loss}, all));
  if (reduction == "sum") return node.set(0, sum);
  RELAXC_TRY(Value * total, node.call("sum", {weight}, all));
  return node.set(0, node.call("divide", {sum, total}));
}

Status nll_loss(Node& node) {
  RELAXC_TRY(Value * scores, node.input(0));
  RELAXC_TRY(Value * target, node.input(1));
  RELAXC_TRY(Value * weights, node.optional_input(2));
  return negative_likelihood(node, scores, target, weights);
}

Status softmax_cross_entropy(Node& node) {
  RELAXC_TRY(Value * scores, node.input(0));
  RELAXC_TRY(Value * target, node.input(1));
  RELAXC_TRY(Value * weights, node.optional_input(2));
  RELAXC_TRY(scores, node.call("nn.log_softmax", {scores}, {{"axis", int64_t{1}}}));
  RELAXC_DO(node.set(1, scores));
  return negative_likelihood(node, scores, target, weights);
}

constexpr Converter kRows[] = {
    {.name = "NegativeLogLikelihoodLoss", .convert = nll_loss},
    {.name = "SoftmaxCrossEntropyLoss", .convert = softmax_cross_entropy},
};

}  // namespace
}  // namespace relaxc::frontend::loss_family

RELAXC_CONVERTERS(loss, kRows)
