#include "compiler/api/report/kernel_operators.h"

#include <algorithm>
#include <set>

#include "compiler/support/quote.h"

namespace relaxc::api {
namespace {

std::string input_key(const GraphView& graph, const GraphNode& node) {
  return graph.functions[static_cast<size_t>(node.function)] + "/" + node.label;
}

}  // namespace

KernelOperators::KernelOperators(const GraphView& before, const GraphView& after, const ValueNames& names)
    : before_(before), after_(after), names_(names), names_before_(before), groups_(groups_of(before, after)) {
  for (size_t i = 0; i < after.nodes.size(); ++i)
    if (after.nodes[i].kind == "input") inputs_.emplace(input_key(after, after.nodes[i]), i);
}

/// Returns the name of the value that holds what `node` of the graph before computes; empty if there is none.
std::string KernelOperators::value_outside(size_t node) const {
  if (groups_[node] >= 0) return names_.read(static_cast<size_t>(groups_[node]));
  if (before_.nodes[node].kind != "input") return {};
  auto found = inputs_.find(input_key(before_, before_.nodes[node]));
  return found == inputs_.end() ? std::string() : names_.read(found->second);
}

frontend::ViewerGraph KernelOperators::of(size_t kernel) const {
  frontend::ViewerGraph function;
  function.name = printable(after_.nodes[kernel].label);
  UniqueNames unique;
  const std::vector<std::string> operands = names_.operands(kernel);
  for (const std::string& operand : operands) function.inputs.push_back({unique.next(operand), {}, {}});
  std::map<size_t, std::string> inside;  // the operators of the kernel, and their values
  std::set<size_t> read;
  for (size_t i = 0; i < before_.nodes.size(); ++i) {
    if (groups_[i] != static_cast<int32_t>(kernel)) continue;
    const GraphNode& node = before_.nodes[i];
    const std::string value = unique.next(node.label);
    frontend::ViewerNode made = viewer_node(value, node);
    for (size_t from : names_before_.producers(i)) {
      auto known = inside.find(from);
      std::string name = known != inside.end() ? known->second : value_outside(from);
      if (known == inside.end() && std::count(operands.begin(), operands.end(), name) == 0) continue;
      made.inputs.push_back(std::move(name));
      read.insert(from);
    }
    made.outputs = {value};
    inside.emplace(i, value);
    if (node.tensor) function.values.push_back(viewer_value(value, node));
    function.nodes.push_back(std::move(made));
  }
  for (const auto& [node, value] : inside)
    if (read.count(node) == 0) function.outputs.push_back({value, {}, {}});
  return function;
}

}  // namespace relaxc::api
