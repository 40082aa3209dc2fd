// node_order.cpp: see node_order.h.
#include "frontends/onnx/node_order.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <queue>

namespace relaxc::frontend {

using google::protobuf::RepeatedPtrField;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::ValueInfoProto;

static void collect_reads(const NodeProto& node, std::set<std::string>& reads) {
  for (const std::string& name : node.input())
    if (!name.empty()) reads.insert(name);
  auto graph_reads = [&](const GraphProto& graph) {
    std::set<std::string> inside, own;
    for (const ValueInfoProto& input : graph.input()) own.insert(input.name());
    for (const onnx::TensorProto& tensor : graph.initializer()) own.insert(tensor.name());
    for (const NodeProto& inner : graph.node()) {
      collect_reads(inner, inside);
      own.insert(inner.output().begin(), inner.output().end());
    }
    for (const ValueInfoProto& output : graph.output()) inside.insert(output.name());
    std::set_difference(inside.begin(), inside.end(), own.begin(), own.end(), std::inserter(reads, reads.end()));
  };
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) graph_reads(attribute.g());
    for (const GraphProto& graph : attribute.graphs()) graph_reads(graph);
  }
}

std::set<std::string> reads_of(const NodeProto& node) {
  std::set<std::string> reads;
  collect_reads(node, reads);
  return reads;
}

namespace {

/// The dependences between nodes.
struct Makers {
  std::vector<std::vector<int>> users;  ///< of each node: the nodes that read its outputs
  std::vector<int> missing;             ///< of each node: number of nodes that it still waits for
};

Makers makers_of(const RepeatedPtrField<NodeProto>& nodes) {
  std::map<std::string, int> maker;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& output : nodes[i].output())
      if (!output.empty()) maker.try_emplace(output, i);
  auto count = static_cast<size_t>(nodes.size());
  Makers out{std::vector<std::vector<int>>(count), std::vector<int>(count, 0)};
  for (int i = 0; i < nodes.size(); ++i) {
    std::set<int> makers;
    for (const std::string& name : reads_of(nodes[i]))
      if (auto found = maker.find(name); found != maker.end()) makers.insert(found->second);
    for (int from : makers) {
      out.users[static_cast<size_t>(from)].push_back(i);
      ++out.missing[static_cast<size_t>(i)];
    }
  }
  return out;
}

/// Returns nodes in topological order, lower numbers first; `missing` stays positive for nodes on or after a cycle.
std::vector<int> sorted(Makers& makers) {
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < makers.missing.size(); ++i)
    if (makers.missing[i] == 0) ready.push(static_cast<int>(i));
  std::vector<int> order;
  while (!ready.empty()) {
    int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (int user : makers.users[static_cast<size_t>(next)])
      if (--makers.missing[static_cast<size_t>(user)] == 0) ready.push(user);
  }
  return order;
}

}  // namespace

NodeOrder order_of(const RepeatedPtrField<NodeProto>& nodes) {
  Makers makers = makers_of(nodes);
  NodeOrder out{sorted(makers), {}};
  for (size_t i = 0; i < makers.missing.size(); ++i)
    if (makers.missing[i] != 0) out.cyclic.push_back(static_cast<int>(i));
  return out;
}

}  // namespace relaxc::frontend
