// ml_trees.cpp: ensembles of decision trees.
//
// Three operators say the same in two ways: TreeEnsembleClassifier and TreeEnsembleRegressor list nodes by tree and
// node id, leaves among them, and weights by the same ids; TreeEnsemble lists nodes by place, and leaves apart. Both
// become the tables of `tree_ensemble`. What a model may get wrong, such as ids of nodes that are not there, or a node
// that is its own descendant, is found here.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include "frontends/onnx/converter.h"
#include "frontends/onnx/ml.h"

namespace relaxc::frontend {
namespace {

constexpr std::array<std::string_view, 7> kModes = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",   "BRANCH_GT",
                                                    "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER"};

/// The tables of compiler/ops/tree_ensemble.cpp.
struct Forest {
  std::vector<double> roots, features, modes, splits, missing, branches, ranges, members, targets, weights;

  size_t nodes() const { return features.size(); }
  size_t add_node(int64_t feature, int64_t mode, double split, bool missing_is_true) {
    features.push_back(static_cast<double>(feature));
    modes.push_back(static_cast<double>(mode));
    splits.push_back(split);
    missing.push_back(missing_is_true ? 1 : 0);
    branches.insert(branches.end(), {-1, -1});
    ranges.insert(ranges.end(), {0, 0});
    return nodes() - 1;
  }
  bool is_leaf(size_t node) const { return branches[2 * node + 1] < 0; }
  size_t child(size_t node, size_t which) const { return static_cast<size_t>(branches[2 * node + which]); }
};

/// The number of steps from a root to the deepest leaf; fails on a node that is below itself.
Result<int64_t> depth_of(Node& node, const Forest& forest) {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(forest.nodes(), kNew);
  std::vector<int64_t> depth(forest.nodes(), 0);
  int64_t deepest = 0;
  for (double root : forest.roots) {
    std::vector<size_t> stack{static_cast<size_t>(root)};
    while (!stack.empty()) {
      size_t at = stack.back();
      bool leaf = forest.is_leaf(at), waits = false;
      if (state[at] == kNew && !leaf) {
        state[at] = kOpen;
        for (size_t which = 0; which < 2; ++which) {
          size_t child = forest.child(at, which);
          if (state[child] == kOpen)
            return node.error(Kind::malformed_model, "node {} of the trees is below itself", child);
          if (state[child] == kNew) {
            stack.push_back(child);
            waits = true;
          }
        }
      }
      if (waits) continue;
      stack.pop_back();
      if (state[at] == kDone) continue;
      state[at] = kDone;
      depth[at] = leaf ? 0 : 1 + std::max(depth[forest.child(at, 0)], depth[forest.child(at, 1)]);
      deepest = std::max(deepest, depth[at]);
    }
  }
  return deepest;
}

/// Subscripts that the operator reads must lie in their tables.
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
  Value *sum, *seen;  ///< [N, targets]; whether a leaf had a weight
};

Result<Scores> scores_of(Chain& c, Forest& forest, int64_t targets, const std::string& aggregate) {
  Node& node = c.node;
  Diagnostics& diag = node.diag;
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

/// Nodes by tree and node id, with weights by the same ids: attributes nodes_* and `prefix`_*.
class ById {
 public:
  ById(Node& node, std::string prefix) : node_(node), prefix_(std::move(prefix)) {}

  Result<Forest> read() {
    Diagnostics& diag = node_.diag;
    RELAXC_DO(read_nodes());
    RELAXC_DO(connect());
    RELAXC_DO(read_weights());
    return std::move(forest_);
  }

 private:
  using Id = std::pair<int64_t, int64_t>;

  /// A list of floats, or the same as a tensor.
  Result<std::vector<double>> numbers(const std::string& name) {
    if (node_.has_attr(name)) return node_.floats_attr(name);
    return tensor_numbers(node_, name + "_as_tensor");
  }

  Status read_nodes() {
    Diagnostics& diag = node_.diag;
    trees_ = node_.ints_attr("nodes_treeids"), ids_ = node_.ints_attr("nodes_nodeids");
    Ints features = node_.ints_attr("nodes_featureids"), missing = node_.ints_attr("nodes_missing_value_tracks_true");
    std::vector<std::string> modes = node_.strings_attr("nodes_modes");
    RELAXC_TRY(std::vector<double> values, numbers("nodes_values"));
    size_t count = trees_.size();
    if (ids_.size() != count || features.size() != count || modes.size() != count || values.size() != count ||
        (!missing.empty() && missing.size() != count))
      return node_.error(Kind::invalid_attribute, "the lists nodes_* have different lengths");
    for (size_t i = 0; i < count; ++i) {
      const auto* mode = std::find(kModes.begin(), kModes.end(), modes[i]);
      leaf_.push_back(modes[i] == "LEAF");
      if (mode == kModes.end() && !leaf_.back())
        return node_.error(Kind::invalid_attribute, "mode '{}' of a node is not known", modes[i]);
      if (modes[i] == "BRANCH_MEMBER")
        return node_.error(Kind::invalid_attribute, "BRANCH_MEMBER belongs to TreeEnsemble");
      size_t at = forest_.add_node(features[i], leaf_.back() ? 0 : mode - kModes.begin(), values[i],
                                   !missing.empty() && missing[i] != 0);
      if (!places_.emplace(Id{trees_[i], ids_[i]}, at).second)
        return node_.error(Kind::malformed_model, "node {} of tree {} is given twice", ids_[i], trees_[i]);
    }
    return Done{};
  }

  /// Children, and the roots: of each tree, in the order in which they appear, the first node that is no child.
  Status connect() {
    Ints yes = node_.ints_attr("nodes_truenodeids"), no = node_.ints_attr("nodes_falsenodeids");
    if (yes.size() != trees_.size() || no.size() != trees_.size())
      return node_.error(Kind::invalid_attribute, "the lists nodes_* have different lengths");
    std::vector<bool> is_child(trees_.size(), false);
    for (size_t i = 0; i < trees_.size(); ++i) {
      if (leaf_[i]) continue;
      for (size_t which = 0; which < 2; ++which) {
        int64_t id = which == 0 ? no[i] : yes[i];
        auto child = places_.find({trees_[i], id});
        if (child == places_.end())
          return node_.error(Kind::malformed_model, "tree {} has no node {}, which follows node {}", trees_[i], id,
                             ids_[i]);
        forest_.branches[2 * i + which] = static_cast<double>(child->second);
        is_child[child->second] = true;
      }
    }
    std::set<int64_t> rooted;
    for (size_t i = 0; i < trees_.size(); ++i)
      if (!is_child[i] && rooted.insert(trees_[i]).second) forest_.roots.push_back(static_cast<double>(i));
    std::set<int64_t> all(trees_.begin(), trees_.end());
    if (rooted.size() != all.size()) return node_.error(Kind::malformed_model, "a tree has no root");
    return Done{};
  }

  Status read_weights() {
    Diagnostics& diag = node_.diag;
    Ints trees = node_.ints_attr(prefix_ + "_treeids"), ids = node_.ints_attr(prefix_ + "_nodeids"),
         targets = node_.ints_attr(prefix_ + "_ids");
    RELAXC_TRY(std::vector<double> weights, numbers(prefix_ + "_weights"));
    if (trees.size() != ids.size() || targets.size() != ids.size() || weights.size() != ids.size())
      return node_.error(Kind::invalid_attribute, "the lists {}_* have different lengths", prefix_);
    std::map<size_t, std::vector<size_t>> by_leaf;
    for (size_t i = 0; i < ids.size(); ++i) {
      auto leaf = places_.find({trees[i], ids[i]});
      if (leaf == places_.end())
        return node_.error(Kind::malformed_model, "tree {} has no node {}, which has a weight", trees[i], ids[i]);
      if (leaf_[leaf->second]) by_leaf[leaf->second].push_back(i);
    }
    for (const auto& [leaf, entries] : by_leaf) {
      forest_.ranges[2 * leaf] = static_cast<double>(forest_.weights.size());
      for (size_t i : entries) {
        forest_.targets.push_back(static_cast<double>(targets[i]));
        forest_.weights.push_back(weights[i]);
      }
      forest_.ranges[2 * leaf + 1] = static_cast<double>(forest_.weights.size());
    }
    return Done{};
  }

  Node& node_;
  std::string prefix_;
  Forest forest_;
  Ints trees_, ids_;
  std::vector<bool> leaf_;
  std::map<Id, size_t> places_;
};

Result<std::vector<double>> base_values(Node& node) {
  if (node.has_attr("base_values")) return node.floats_attr("base_values");
  return tensor_numbers(node, "base_values_as_tensor");
}

/// As ONNX Runtime does: a single target is transformed by PROBIT only, and of several only those that a leaf had a
/// weight for have a base value, unless they are averages.
Status regressor(Node& node) {
  Diagnostics& diag = node.diag;
  Chain c(node);
  RELAXC_TRY(Forest forest, ById(node, "target").read());
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

/// Two classes of which the leaves may name one: how ONNX Runtime makes labels and scores of them.
Status set_two_classes(Chain& c, const ClassLabels& labels, const Forest& forest, Scores scores,
                       const std::vector<double>& base, const std::string& transform) {
  Diagnostics& diag = c.node.diag;
  DType real = scores.sum->dtype();
  bool single = std::set<double>(forest.targets.begin(), forest.targets.end()).size() == 1;
  bool second = std::find(forest.targets.begin(), forest.targets.end(), 1) != forest.targets.end();
  bool positive = std::all_of(forest.weights.begin(), forest.weights.end(), [](double w) { return w >= 0; });
  auto column = [&](Value* of, int64_t k) { return c.slice(of, 1, c.node.index(k), c.node.index(k + 1)); };
  Value *first = column(scores.sum, 0), *other = column(scores.sum, 1);
  if (base.size() == 2) {
    // A score of the second class is that of the first, shifted; without one, neither is its base value added.
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
  Diagnostics& diag = node.diag;
  Chain c(node);
  RELAXC_TRY(Forest forest, ById(node, "class").read());
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

/// Nodes by place; a child is a node or a leaf.
class ByPlace {
 public:
  explicit ByPlace(Node& node) : node_(node) {}

  Result<Forest> read() {
    Diagnostics& diag = node_.diag;
    RELAXC_DO(read_nodes());
    RELAXC_DO(read_leaves());
    RELAXC_DO(connect());
    return std::move(forest_);
  }

 private:
  Status read_nodes() {
    Diagnostics& diag = node_.diag;
    Ints features = node_.ints_attr("nodes_featureids"), missing = node_.ints_attr("nodes_missing_value_tracks_true");
    RELAXC_TRY(std::vector<double> modes, tensor_numbers(node_, "nodes_modes"));
    RELAXC_TRY(std::vector<double> splits, tensor_numbers(node_, "nodes_splits"));
    RELAXC_TRY(std::vector<double> members, tensor_numbers(node_, "membership_values"));
    inner_ = features.size();
    if (modes.size() != inner_ || splits.size() != inner_ || (!missing.empty() && missing.size() != inner_))
      return node_.error(Kind::invalid_attribute, "the lists nodes_* have different lengths");
    size_t next = 0;
    for (size_t i = 0; i < inner_; ++i) {
      auto mode = static_cast<int64_t>(modes[i]);
      if (modes[i] != static_cast<double>(mode) || mode < 0 || mode >= static_cast<int64_t>(kModes.size()))
        return node_.error(Kind::invalid_attribute, "mode {} of a node is not known", modes[i]);
      size_t at = forest_.add_node(features[i], mode, splits[i], !missing.empty() && missing[i] != 0);
      if (kModes[static_cast<size_t>(mode)] != "BRANCH_MEMBER") continue;
      // The sets stand one after another, each ended by a NaN.
      forest_.ranges[2 * at] = static_cast<double>(forest_.members.size());
      for (; next < members.size() && members[next] == members[next]; ++next) forest_.members.push_back(members[next]);
      ++next;
      forest_.ranges[2 * at + 1] = static_cast<double>(forest_.members.size());
    }
    return Done{};
  }

  Status read_leaves() {
    Diagnostics& diag = node_.diag;
    Ints targets = node_.ints_attr("leaf_targetids");
    RELAXC_TRY(forest_.weights, tensor_numbers(node_, "leaf_weights"));
    if (targets.size() != forest_.weights.size())
      return node_.error(Kind::invalid_attribute, "leaf_targetids and leaf_weights have different lengths");
    leaves_ = targets.size();
    for (size_t i = 0; i < leaves_; ++i) {
      forest_.targets.push_back(static_cast<double>(targets[i]));
      size_t at = forest_.add_node(0, 0, 0, false);
      forest_.ranges[2 * at] = static_cast<double>(i), forest_.ranges[2 * at + 1] = static_cast<double>(i + 1);
    }
    return Done{};
  }

  Status connect() {
    for (size_t which = 0; which < 2; ++which) {
      Ints ids = node_.ints_attr(which == 0 ? "nodes_falsenodeids" : "nodes_truenodeids");
      Ints is_leaf = node_.ints_attr(which == 0 ? "nodes_falseleafs" : "nodes_trueleafs");
      if (ids.size() != inner_ || is_leaf.size() != inner_)
        return node_.error(Kind::invalid_attribute, "the lists nodes_* have different lengths");
      for (size_t i = 0; i < inner_; ++i) {
        size_t count = is_leaf[i] != 0 ? leaves_ : inner_;
        if (ids[i] < 0 || static_cast<size_t>(ids[i]) >= count)
          return node_.error(Kind::malformed_model, "node {} is followed by {} {} of {}", i,
                             is_leaf[i] != 0 ? "leaf" : "node", ids[i], count);
        forest_.branches[2 * i + which] =
            static_cast<double>(ids[i]) + (is_leaf[i] != 0 ? static_cast<double>(inner_) : 0);
      }
    }
    for (int64_t root : node_.ints_attr("tree_roots")) {
      if (root < 0 || static_cast<size_t>(root) >= inner_)
        return node_.error(Kind::malformed_model, "the root {} is none of {} nodes", root, inner_);
      forest_.roots.push_back(static_cast<double>(root));
    }
    return Done{};
  }

  Node& node_;
  Forest forest_;
  size_t inner_ = 0, leaves_ = 0;
};

Status ensemble(Node& node) {
  Diagnostics& diag = node.diag;
  Chain c(node);
  constexpr std::array<const char*, 4> kAggregates = {"AVERAGE", "SUM", "MIN", "MAX"};
  constexpr std::array<const char*, 5> kTransforms = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  int64_t aggregate = node.int_attr("aggregate_function", 1), transform = node.int_attr("post_transform", 0);
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4)
    return node.error(Kind::invalid_attribute, "aggregate_function {} or post_transform {} is not known", aggregate,
                      transform);
  RELAXC_TRY(Forest forest, ByPlace(node).read());
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
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(ml_trees, kRows)
