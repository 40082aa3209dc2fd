// regions.h: converts subgraphs of nodes to regions, for If and Loop.
#pragma once

#include "frontends/onnx/composite.h"

namespace relaxc::frontend {

/// Returns the graph in an attribute; null if there is none.
const onnx::GraphProto* subgraph(Node& node, std::string_view name);
/// Removes `op`, the last op that the builder appended, with everything inside.
void discard(Node& node, relax::Op* op);
/// Converts the graph into the region and returns its results; constants and known contents become tensors in there.
Result<std::vector<NamedValue>> fill(Node& node, relax::Region* region, const onnx::GraphProto& graph,
                                     std::vector<NamedValue> arguments);
/// Returns the tensors of a region's results, each in the form of the corresponding element of `likes`.
Result<std::vector<Value*>> flattened(Node& node, relax::Region* region, const std::vector<NamedValue>& slots,
                                      const std::vector<NamedValue>& likes);
/// Fails if `dims`, those of a collected value, have symbols that get their values within an iteration.
Status expect_one_size(Node& node, const relax::Op* loop, const std::vector<Expr>& dims, size_t output);
/// Sets the node's outputs, from `first` on, to `values` in the forms of `likes`.
Status set_rebuilt(Node& node, size_t first, const std::vector<NamedValue>& likes, const std::vector<Value*>& values);
/// Returns a condition as a rank-0 tensor; older exporters have it as [1].
Result<Value*> condition_of(Node& node, size_t input);

}  // namespace relaxc::frontend
