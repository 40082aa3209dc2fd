// regions.h: subgraphs of nodes as regions of ours, which If and Loop share.
#pragma once

#include "frontends/onnx/composite.h"

namespace relaxc::frontend {

/// The graph in an attribute; null if there is none.
const onnx::GraphProto* subgraph(Node& node, std::string_view name);
/// Takes `op`, which the builder appended last, out again with everything inside.
void discard(Node& node, relax::Op* op);
/// What a region gives; constants and contents become tensors inside it.
Result<std::vector<NamedValue>> fill(Node& node, relax::Region* region, const onnx::GraphProto& graph,
                                     std::vector<NamedValue> arguments);
/// The tensors that a region's results consist of, each in the form of what is at its place in `likes`.
Result<std::vector<Value*>> flattened(Node& node, relax::Region* region, const std::vector<NamedValue>& slots,
                                      const std::vector<NamedValue>& likes);
/// Fails if `dims`, those of what a loop collects, have symbols that get their values in an iteration.
Status expect_one_size(Node& node, const relax::Op* loop, const std::vector<Expr>& dims, size_t output);
/// Makes the node's outputs, from `first` on, what `values` stand for in the forms of `likes`.
Status set_rebuilt(Node& node, size_t first, const std::vector<NamedValue>& likes, const std::vector<Value*>& values);
/// A condition, [1] of older exporters included, as one without dims.
Result<Value*> condition_of(Node& node, size_t input);

}  // namespace relaxc::frontend
