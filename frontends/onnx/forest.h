// forest.h: converts decision trees, in both forms that ONNX has, to the tables of `tree_ensemble`.
#pragma once

#include "frontends/onnx/ml.h"

namespace relaxc::frontend {

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

/// Reads nodes by tree and node id, and weights by the same ids: attributes nodes_* and `prefix`_*.
Result<Forest> forest_by_id(Node& node, const std::string& prefix);
/// Reads nodes by position; a child is a node or a leaf.
Result<Forest> forest_by_place(Node& node);
/// Returns the number of steps from a root to the deepest leaf; fails on a node that is its own descendant.
Result<int64_t> depth_of(Node& node, const Forest& forest);

}  // namespace relaxc::frontend
