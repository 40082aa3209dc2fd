// node_order.h: who reads what among the nodes of a graph, and the order that follows.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "frontends/onnx/onnx.pb.h"

namespace relaxc::frontend {

/// Names that a node reads, those that its subgraphs take from outside included: what a subgraph makes itself is its
/// own, even where the graph around it has another value of that name.
std::set<std::string> reads_of(const onnx::NodeProto& node);

/// Nodes by their places in their graph.
struct NodeOrder {
  std::vector<int> order;   ///< everything is made before it is used; the given order where it is one
  std::vector<int> cyclic;  ///< on a cycle, or behind one: in no order
};
NodeOrder order_of(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

}  // namespace relaxc::frontend
