// strongly_connected_components.h: which nodes of a graph reach each other, as functions do that call each other.
#pragma once

#include <cstddef>
#include <vector>

namespace relaxc::analysis {

/// The parts of a directed graph whose members all reach each other, each part behind those that it reaches: callees
/// before callers. `next[i]` are the nodes that follow node i. A node in no cycle is a part of its own; members
/// ascend. Tarjan 1972, with a stack of its own.
std::vector<std::vector<size_t>> strongly_connected_components(const std::vector<std::vector<size_t>>& next);

}  // namespace relaxc::analysis
