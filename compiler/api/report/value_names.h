// value_names.h: names for the values that the nodes of a report's graph exchange.
//
// The graph has edges between nodes, an ONNX model has names of values. A node has one value that its users read, and
// one for each result of the program that it makes alone, with the result's name; if that is one, both are the same.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/api/observe/graph_view.h"
#include "frontends/onnx/viewer_model.h"

namespace relaxc::api {

/// Names that are given once each, and are safe to show.
class UniqueNames {
 public:
  /// Returns `wanted`, or if it is taken the first of wanted_2, wanted_3 … that is not.
  std::string next(const std::string& wanted);

 private:
  std::set<std::string> used_;
};

class ValueNames {
 public:
  explicit ValueNames(const GraphView& graph);

  const std::vector<size_t>& producers(size_t node) const { return producers_[node]; }
  /// Returns the value that users of the node read.
  const std::string& read(size_t node) const { return made_[node].front(); }
  const std::vector<std::string>& made(size_t node) const { return made_[node]; }
  /// Returns the values that the node reads.
  std::vector<std::string> operands(size_t node) const;
  /// Returns whether one node computes the result `output`: it is no input, and no tuple of several.
  bool is_made_alone(size_t output) const;

 private:
  const GraphView& graph_;
  std::vector<std::vector<size_t>> producers_;
  std::vector<std::vector<std::string>> made_;
};

/// Returns a value with the type of a node's first result.
frontend::ViewerValue viewer_value(std::string name, const GraphNode& node);
/// Returns a node of this name without inputs and outputs. Its attribute `sources` says what of the source it computes.
frontend::ViewerNode viewer_node(std::string name, const GraphNode& node);

}  // namespace relaxc::api
