// node_budget.cpp: see node_budget.h.
#include "frontends/onnx/node_budget.h"

#include <algorithm>

namespace relaxc::frontend {

using onnx::GraphProto;
using onnx::NodeProto;

namespace {

constexpr int64_t kManyNodes = 1'000'000'000'000'000;  ///< counts saturate here

}  // namespace

const CustomOp* find_custom(const ImportOptions& options, const NodeProto& node) {
  for (const CustomOp& custom : options.custom_ops)
    if (custom.name == node.op_type() && custom.domain == domain_of(node.domain())) return &custom;
  return nullptr;
}

const onnx::FunctionProto* find_function(const onnx::ModelProto& model, const NodeProto& node) {
  for (const onnx::FunctionProto& function : model.functions())
    if (function.name() == node.op_type() && domain_of(function.domain()) == domain_of(node.domain()) &&
        function.overload() == node.overload())
      return &function;
  return nullptr;
}

int64_t NodeBudget::size_of(const NodeProto& node) {
  int64_t nodes = 1;
  auto add = [&](const auto& list) {
    for (const NodeProto& inner : list) nodes = std::min(nodes + size_of(inner), kManyNodes);
  };
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) add(attribute.g().node());
    for (const GraphProto& graph : attribute.graphs()) add(graph.node());
  }
  const onnx::FunctionProto* function = find_custom(options_, node) != nullptr ? nullptr : find_function(model_, node);
  return function == nullptr ? nodes : std::min(nodes + size_of(*function), kManyNodes);
}

/// Counts each function once. A recursive call counts as 0 here; its conversion reports the error.
int64_t NodeBudget::size_of(const onnx::FunctionProto& function) {
  auto [found, fresh] = sizes_.try_emplace(&function, 0);
  if (!fresh) return found->second;
  if (counting_ == kDeepestCalls) return 0;  // the conversion refuses deeper calls
  ++counting_;
  int64_t nodes = 0;
  for (const NodeProto& node : function.node()) nodes = std::min(nodes + size_of(node), kManyNodes);
  --counting_;
  return sizes_[&function] = nodes;
}

bool NodeBudget::allows(int64_t nodes, const std::string& what, Location where) {
  if (exceeded_) return false;
  if (nodes <= options_.max_nodes - converted_) return true;
  exceeded_ = true;
  diag.error(where, Kind::unsupported,
             "the model is too large: with {} it comes to {} nodes, and the budget (--max-nodes) is {}; functions and "
             "the bodies of loops count as often as they are written out",
             what, nodes >= kManyNodes ? "10^15 or more" : std::to_string(converted_ + nodes), options_.max_nodes);
  return false;
}

}  // namespace relaxc::frontend
