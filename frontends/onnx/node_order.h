// node_order.h: finds what the nodes of a graph read, and sorts them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "frontends/onnx/onnx.pb.h"

namespace relaxc::frontend {

/// Returns the names that a node reads, including those that its subgraphs take from outside. A name that a subgraph
/// defines is its own, even if the enclosing graph has another value of that name.
std::set<std::string> reads_of(const onnx::NodeProto& node);

/// Nodes by their numbers in their graph.
struct NodeOrder {
  std::vector<int> order;   ///< definitions before uses; the given order if that is valid
  std::vector<int> cyclic;  ///< nodes on a cycle or after one, which have no order
};
NodeOrder order_of(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

}  // namespace relaxc::frontend
