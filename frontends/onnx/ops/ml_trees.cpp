// ml_trees.cpp: ensembles of decision trees.
//
// Three operators have two formats: TreeEnsembleClassifier and TreeEnsembleRegressor list nodes, including leaves, by
// tree and node id, and weights by the same ids; TreeEnsemble lists nodes by position, and leaves separately. Both
// become the tables of `tree_ensemble` (frontends/onnx/forest.h).
#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "frontends/onnx/converter.h"
#include "frontends/onnx/forest.h"

namespace relaxc::frontend::ml_trees_family {
namespace {

/// Reports targets and features that are out of range, and a forest without trees.
Status check_targets(Node& node, const Forest& forest, int64_t targets) {
  for (double target : forest.targets)
    if (target < 0 || target >= static_cast<double>(targets))
      return node.error(Kind::malformed_model, "a leaf has a weight for target {} of {}", target, targets);
  for (double feature : forest.features)
    if (feature < 0) return node.error(Kind::malformed_model, "a node asks for feature {}", feature);
  if (forest.roots.empty()) return node.error(Kind::malformed_model, "there are no trees");
  return Done{};
}

struct Scores {
  Value *sum, *seen;  ///< both [N, targets]; seen: whether any leaf had a weight
};

Result<Scores> scores_of(ConversionBuilder& c, Forest& forest, int64_t targets, const std::string& aggregate) {
  Node& node = c.node;
  RELAXC_DO(check_targets(node, forest, targets));
  RELAXC_TRY(int64_t depth, depth_of(node, forest));
  RELAXC_TRY(Value * x, feature_rows(c, true));
  if (const int64_t* width = x->shape()[1].constant())
    for (size_t i = 0; i < forest.nodes(); ++i)
      if (!forest.is_leaf(i) && forest.features[i] >= static_cast<double>(*width))
        return node.error(Kind::malformed_model, "a node asks for feature {} of {}", forest.features[i], *width);
  std::set<double> modes;
  for (size_t i = 0; i < forest.nodes(); ++i)
    if (!forest.is_leaf(i)) modes.insert(forest.modes[i]);
  bool uniform = modes.size() <= 1;
  DType small = DType::u(8), i32 = DType::i(32), real = x->dtype();
  auto count = static_cast<int64_t>(forest.nodes());
  std::vector<Value*> operands{x,
                               list_of(node, i32, forest.roots),
                               list_of(node, i32, forest.features),
                               list_of(node, small, forest.modes),
                               list_of(node, real, forest.splits),
                               list_of(node, small, forest.missing),
                               constant_of(node, i32, {count, 2}, forest.branches),
                               constant_of(node, i32, {count, 2}, forest.ranges),
                               list_of(node, real, forest.members),
                               list_of(node, i32, forest.targets),
                               list_of(node, real, forest.weights)};
  std::string how = aggregate == "MIN" ? "min" : aggregate == "MAX" ? "max" : "sum";
  int64_t mode = !uniform ? -1 : modes.empty() ? 0 : static_cast<int64_t>(*modes.begin());
  Attrs attrs{{"targets", targets}, {"depth", depth}, {"mode", mode}, {"aggregate", how}};
  RELAXC_TRY(std::vector<Value*> made, node.call_many("tree_ensemble", std::move(operands), std::move(attrs)));
  if (aggregate == "AVERAGE") made[0] = c.multiply(made[0], 1 / static_cast<double>(forest.roots.size()));
  return Scores{made[0], made[1]};
}

Result<std::vector<double>> base_values(Node& node) {
  if (node.has_attr("base_values")) return node.floats_attr("base_values");
  return tensor_numbers(node, "base_values_as_tensor");
}

/// Converts TreeEnsembleRegressor as ONNX Runtime computes it: a single target is transformed only by PROBIT; of
/// several targets, only those for which a leaf had a weight get a base value, unless they are averages.
Status regressor(Node& node) {
  ConversionBuilder c(node);
  RELAXC_TRY(Forest forest, forest_by_id(node, "target"));
  RELAXC_TRY(std::vector<double> base, base_values(node));
  int64_t targets = node.int_attr("n_targets", 1);
  std::string aggregate = node.string_attr("aggregate_function", "SUM");
  RELAXC_TRY(Scores scores, scores_of(c, forest, targets, aggregate));
  Value* y = scores.sum;
  if (!base.empty() && static_cast<int64_t>(base.size()) != targets)
    return node.error(Kind::invalid_attribute, "there are {} base values for {} targets", base.size(), targets);
  if (!base.empty()) {
    Value* shifted = c.add(y, list_of(node, y->dtype(), base));
    y = targets == 1 || aggregate == "AVERAGE" ? shifted : c.where(scores.seen, shifted, y);
  }
  std::string transform = node.string_attr("post_transform", "NONE");
  if (targets > 1 || transform == "PROBIT") y = transformed(c, y, transform);
  return c.set(0, c.as(y, DType::f(32)));
}

/// Sets labels and scores of two classes, of which the leaves may name only one, as ONNX Runtime does.
Status set_two_classes(ConversionBuilder& c, const ClassLabels& labels, const Forest& forest, Scores scores,
                       const std::vector<double>& base, const std::string& transform) {
  DType real = scores.sum->dtype();
  bool single = std::set<double>(forest.targets.begin(), forest.targets.end()).size() == 1;
  bool second = std::find(forest.targets.begin(), forest.targets.end(), 1) != forest.targets.end();
  bool positive = std::all_of(forest.weights.begin(), forest.weights.end(), [](double w) { return w >= 0; });
  auto column = [&](Value* of, int64_t k) { return c.slice(of, 1, c.node.index(k), c.node.index(k + 1)); };
  Value *first = column(scores.sum, 0), *other = column(scores.sum, 1);
  if (base.size() == 2) {
    // If a leaf scored the second class, it gets the first one's score, shifted; otherwise its base value is not added.
    Value *has_first = column(scores.seen, 0), *has_other = column(scores.seen, 1), *zero = c.number(real, 0);
    Value* shifted = c.add(first, base[1]);
    Value* opposite = c.where(has_first, c.call("negative", {shifted}), zero);
    first = c.where(has_other, opposite, c.add(first, base[0]));
    other = c.where(has_other, shifted, zero);
  } else if (base.size() == 1) {
    first = c.add(first, base[0]);
  }
  Value* decides = second ? other : first;
  Value* limit = c.number(real, single && positive ? 0.5 : 0);
  Value* label = c.as(c.call("greater", {decides, limit}), DType::i(64));
  RELAXC_DO(labels.set(c, c.call("squeeze", {label}, {{"axis", Ints{1}}})));
  Value* y = second || base.size() == 2 ? transformed(c, c.concat({first, other}, 1), transform)
                                        : both_classes(c, first, !(single && positive), transform);
  return c.set(1, c.as(y, DType::f(32)));
}

Status classifier(Node& node) {
  ConversionBuilder c(node);
  RELAXC_TRY(Forest forest, forest_by_id(node, "class"));
  RELAXC_TRY(std::vector<double> base, base_values(node));
  ClassLabels labels(node, "classlabels_int64s", "classlabels_strings");
  int64_t count = labels.count();
  if (count < 1) return node.error(Kind::invalid_attribute, "there are no class labels");
  if (base.size() > static_cast<size_t>(count))
    return node.error(Kind::invalid_attribute, "there are {} base values for {} classes", base.size(), count);
  RELAXC_TRY(Scores scores, scores_of(c, forest, count, "SUM"));
  std::string transform = node.string_attr("post_transform", "NONE");
  if (count == 2) return set_two_classes(c, labels, forest, scores, base, transform);
  Value *y = scores.sum, *candidates = nullptr;
  if (base.empty()) {
    candidates = c.where(scores.seen, y, c.like(y, -std::numeric_limits<double>::infinity()));
  } else {
    base.resize(static_cast<size_t>(count), 0);
    candidates = y = c.add(y, list_of(node, y->dtype(), base));
  }
  RELAXC_DO(labels.set(c, c.call("argmax", {candidates}, {{"axis", int64_t{1}}, {"keepdims", false}})));
  return c.set(1, c.as(transformed(c, y, transform), DType::f(32)));
}

Status ensemble(Node& node) {
  ConversionBuilder c(node);
  constexpr std::array<const char*, 4> kAggregates = {"AVERAGE", "SUM", "MIN", "MAX"};
  constexpr std::array<const char*, 5> kTransforms = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  int64_t aggregate = node.int_attr("aggregate_function", 1), transform = node.int_attr("post_transform", 0);
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4)
    return node.error(Kind::invalid_attribute, "aggregate_function {} or post_transform {} is not known", aggregate,
                      transform);
  RELAXC_TRY(Forest forest, forest_by_place(node));
  int64_t targets = node.int_attr("n_targets", 1);
  RELAXC_TRY(Scores scores, scores_of(c, forest, targets, kAggregates[static_cast<size_t>(aggregate)]));
  return c.set(0, transformed(c, scores.sum, kTransforms[static_cast<size_t>(transform)]));
}

constexpr Converter kRows[] = {
    {.name = "TreeEnsemble", .convert = ensemble, .domain = kMl},
    {.name = "TreeEnsembleClassifier", .convert = classifier, .domain = kMl},
    {.name = "TreeEnsembleRegressor", .convert = regressor, .domain = kMl},
};

}  // namespace
}  // namespace relaxc::frontend::ml_trees_family

RELAXC_CONVERTERS(ml_trees, kRows)
