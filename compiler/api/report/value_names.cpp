#include "compiler/api/report/value_names.h"

#include <fmt/format.h>

#include "compiler/support/quote.h"

namespace relaxc::api {

std::string UniqueNames::next(const std::string& wanted) {
  const std::string stem = wanted.empty() ? "value" : printable(wanted);
  std::string name = stem;
  for (int i = 2; !used_.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
  return name;
}

ValueNames::ValueNames(const GraphView& graph)
    : graph_(graph), producers_(graph.nodes.size()), made_(graph.nodes.size()) {
  for (const auto& [from, to] : graph.edges) producers_[static_cast<size_t>(to)].push_back(static_cast<size_t>(from));
  UniqueNames unique;
  // Inputs and results come first, so that a kernel of the same name is the one that is renamed.
  for (const char* kind : {"input", "output"})
    for (size_t i = 0; i < made_.size(); ++i)
      if (graph.nodes[i].kind == kind) made_[i] = {unique.next(graph.nodes[i].label)};
  for (size_t i = 0; i < made_.size(); ++i)
    if (graph.nodes[i].kind == "output" && is_made_alone(i)) made_[producers_[i][0]].push_back(made_[i][0]);
  // A node of several results has another value for its users, since the graph does not say which result one reads.
  std::vector<bool> used(made_.size());
  for (const auto& [from, to] : graph.edges)
    if (graph.nodes[static_cast<size_t>(to)].kind != "output") used[static_cast<size_t>(from)] = true;
  for (size_t i = 0; i < made_.size(); ++i)
    if (made_[i].empty() || (made_[i].size() > 1 && used[i]))
      made_[i].insert(made_[i].begin(), unique.next(graph.nodes[i].label));
}

std::vector<std::string> ValueNames::operands(size_t node) const {
  std::vector<std::string> names;
  for (size_t from : producers_[node]) names.push_back(read(from));
  return names;
}

bool ValueNames::is_made_alone(size_t output) const {
  return producers_[output].size() == 1 && graph_.nodes[producers_[output][0]].kind != "input";
}

frontend::ViewerValue viewer_value(std::string name, const GraphNode& node) {
  frontend::ViewerValue value{std::move(name), {}, {}};
  if (node.tensor) value.dtype = node.tensor->dtype, value.dims = node.tensor->dims;
  return value;
}

frontend::ViewerNode viewer_node(std::string name, const GraphNode& node) {
  frontend::ViewerNode made;
  made.name = std::move(name), made.op = printable(node.label);
  if (node.kind == "kernel") made.domain = frontend::ViewerDomain::kKernels;
  std::vector<std::string> sources;
  for (const std::string& source : node.sources) sources.push_back(printable(source));
  if (!sources.empty()) made.attributes.emplace_back("sources", std::move(sources));
  return made;
}

}  // namespace relaxc::api
