// strongly_connected_components.h: which nodes of a graph reach each other, such as functions that call each other.
#pragma once

#include <cstddef>
#include <vector>

namespace relaxc::analysis {

/// Returns the strongly connected components of a directed graph, each after those that it reaches: callees before
/// callers. `next[i]` are the successors of node i. A node in no cycle is a component of its own; members ascend.
/// Tarjan 1972, with an explicit stack.
std::vector<std::vector<size_t>> strongly_connected_components(const std::vector<std::vector<size_t>>& next);

}  // namespace relaxc::analysis
