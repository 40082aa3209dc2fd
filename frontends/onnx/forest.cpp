// forest.cpp: reads the lists of nodes, and reports errors of the model, such as ids of missing nodes, or a node that
// is its own descendant.
#include "frontends/onnx/forest.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace relaxc::frontend {
namespace {

constexpr std::array<std::string_view, 7> kModes = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",   "BRANCH_GT",
                                                    "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER"};

/// Reads a forest whose nodes and weights are keyed by tree id and node id: attributes nodes_* and `prefix`_*.
class ById {
 public:
  ById(Node& node, std::string prefix) : node_(node), prefix_(std::move(prefix)) {}

  Result<Forest> read() {
    RELAXC_DO(read_nodes());
    RELAXC_DO(connect());
    RELAXC_DO(read_weights());
    return std::move(forest_);
  }

 private:
  using Id = std::pair<int64_t, int64_t>;

  /// Returns a list attribute of floats, or the tensor attribute `name`_as_tensor.
  Result<std::vector<double>> numbers(const std::string& name) {
    if (node_.has_attr(name)) return node_.floats_attr(name);
    return tensor_numbers(node_, name + "_as_tensor");
  }

  Status read_nodes() {
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

  /// Sets children and roots. A tree's root is its first node that is no child; roots are in order of first appearance.
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

/// Reads a forest whose nodes are keyed by index (TreeEnsemble); a child is a node or a leaf.
class ByPlace {
 public:
  explicit ByPlace(Node& node) : node_(node) {}

  Result<Forest> read() {
    RELAXC_DO(read_nodes());
    RELAXC_DO(read_leaves());
    RELAXC_DO(connect());
    return std::move(forest_);
  }

 private:
  Status read_nodes() {
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
      // membership_values holds one set after another, each terminated by a NaN.
      forest_.ranges[2 * at] = static_cast<double>(forest_.members.size());
      for (; next < members.size() && members[next] == members[next]; ++next) forest_.members.push_back(members[next]);
      ++next;
      forest_.ranges[2 * at + 1] = static_cast<double>(forest_.members.size());
    }
    return Done{};
  }

  Status read_leaves() {
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
        return node_.error(Kind::malformed_model, "the root {} is not one of {} nodes", root, inner_);
      forest_.roots.push_back(static_cast<double>(root));
    }
    return Done{};
  }

  Node& node_;
  Forest forest_;
  size_t inner_ = 0, leaves_ = 0;
};

}  // namespace

Result<Forest> forest_by_id(Node& node, const std::string& prefix) {
  return ById(node, prefix).read();
}

Result<Forest> forest_by_place(Node& node) {
  return ByPlace(node).read();
}

Result<int64_t> depth_of(Node& node, const Forest& forest) {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(forest.nodes(), kNew);
  std::vector<int64_t> depth(forest.nodes(), 0);
  // Visit nodes that no root reaches as well, since a cycle among them is also an error.
  for (size_t start = 0; start < forest.nodes(); ++start) {
    std::vector<size_t> stack{start};
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
    }
  }
  int64_t deepest = 0;
  for (double root : forest.roots) deepest = std::max(deepest, depth[static_cast<size_t>(root)]);
  return deepest;
}

}  // namespace relaxc::frontend
