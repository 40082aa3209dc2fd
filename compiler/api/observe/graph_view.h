// graph_view.h: a module's dataflow as nodes and edges for drawing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/relax/module.h"

namespace relaxc::api {

/// The type of a tensor, apart from the arena of its module.
struct GraphTensor {
  std::optional<DType> dtype;
  std::optional<std::vector<std::string>> dims;  ///< as printed; absent if unknown
};

struct GraphNode {
  std::string label;                  ///< the operator's, kernel's or input's name
  std::string kind;                   ///< "input", "op", "kernel", "control", "output"
  std::string type;                   ///< of the first result
  std::optional<GraphTensor> tensor;  ///< the same, if that is a tensor
  std::vector<std::string> sources;   ///< the nodes or lines of the source that it computes
  int32_t function = 0;               ///< index of the Relax function
  int32_t parent = -1;                ///< index of the If or Loop that contains it
  int32_t region = 0;                 ///< index among that op's regions: 0 for then, 1 for else
};

/// Nodes in program order, producers before users; constants, shapes and ops that only rename are left out.
struct GraphView {
  std::vector<std::string> functions;
  std::vector<GraphNode> nodes;
  std::vector<std::pair<int32_t, int32_t>> edges;  ///< from producer to user, without duplicates
};

GraphView view_graph(const relax::Module& module);

/// Returns for each node of `before`, the graph as it was read, the node of `after` that does its work, or -1.
std::vector<int32_t> groups_of(const GraphView& before, const GraphView& after);

/// Returns the graph in Graphviz's language, with a cluster for each function.
std::string dot_text(const GraphView& graph, const std::string& title);

}  // namespace relaxc::api
