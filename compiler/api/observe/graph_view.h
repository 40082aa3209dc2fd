// graph_view.h: a module's dataflow as nodes and edges, for pictures.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/relax/module.h"

namespace relaxc::api {

struct GraphNode {
  std::string label;                 ///< the operator, the kernel, the input's name
  std::string kind;                  ///< "input", "op", "kernel", "control", "output"
  std::string type;                  ///< of the first result
  std::vector<std::string> sources;  ///< the nodes or lines that it comes from
  int32_t function = 0;              ///< index of the Relax function
  int32_t parent = -1;               ///< the If or Loop in which it is
  int32_t region = 0;                ///< which of that one's regions: then is 0, else 1
};

/// Nodes in the order of the program, users behind producers; constants, shapes and what only renames are left out.
struct GraphView {
  std::vector<std::string> functions;
  std::vector<GraphNode> nodes;
  std::vector<std::pair<int32_t, int32_t>> edges;  ///< from producer to user, each once
};

GraphView view_graph(const relax::Module& module);

/// The graph in Graphviz's language, one cluster a function.
std::string dot_text(const GraphView& graph, const std::string& title);

}  // namespace relaxc::api
