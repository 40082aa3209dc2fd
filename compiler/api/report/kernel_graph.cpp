// kernel_graph.cpp: makes an ONNX model for viewers of the two graphs and the profiles of a report.
//
// A kernel is a node. What it computes is a function, and its branches are graphs in attributes, which viewers open;
// numbers and schedules are attributes, which they list.
#include "compiler/api/report/kernel_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/api/report/kernel_operators.h"
#include "compiler/api/report/value_names.h"
#include "compiler/support/quote.h"

namespace relaxc::api {
namespace {

using frontend::ViewerGraph;
using frontend::ViewerModel;
using frontend::ViewerNode;

/// Adds what the profiles say of a kernel: one number for each of them, 0 where the kernel does not run.
void add_costs(ViewerNode& node, const std::string& kernel, const PerformanceReport& report) {
  std::vector<KernelCost> costs;
  bool runs = false, measured = false;
  for (const EntryProfile& profile : report.profiles) {
    auto found = std::find_if(profile.kernels.begin(), profile.kernels.end(),
                              [&](const KernelCost& cost) { return cost.name == kernel; });
    costs.push_back(found == profile.kernels.end() ? KernelCost() : *found);
    runs |= found != profile.kernels.end();
    measured |= profile.measured.count != 0;
  }
  if (!runs) return;
  auto add = [&](const char* name, auto number) {
    std::vector<float> all;
    for (const KernelCost& cost : costs) all.push_back(static_cast<float>(number(cost)));
    node.attributes.emplace_back(name, std::move(all));
  };
  add("estimated_microseconds", [](const KernelCost& cost) { return cost.seconds * 1e6; });
  if (measured) add("measured_microseconds", [](const KernelCost& cost) { return cost.measured_seconds * 1e6; });
  add("share", [](const KernelCost& cost) { return cost.share; });
  add("flops", [](const KernelCost& cost) { return cost.flops; });
  add("integer_ops", [](const KernelCost& cost) { return cost.integer_ops; });
  add("bytes", [](const KernelCost& cost) { return cost.bytes; });
  add("weight_bytes", [](const KernelCost& cost) { return cost.weight_bytes; });
  if (auto text = report.explanations.find(kernel); text != report.explanations.end())
    node.attributes.emplace_back("schedule", text->second);
}

/// Makes the model of a report: the graph of its entry, and functions for its kernels and other Relax functions.
class KernelGraph {
 public:
  explicit KernelGraph(const PerformanceReport& report)
      : report_(report), after_(report.after), names_(report.after), inside_(report.after.nodes.size()) {
    for (size_t i = 0; i < after_.nodes.size(); ++i)
      if (after_.nodes[i].parent >= 0) inside_[static_cast<size_t>(after_.nodes[i].parent)].push_back(i);
  }

  ViewerModel run() {
    ViewerModel model;
    model.producer = report_.producer;
    model.metadata = {{"model", printable(report_.model)}, {"target", report_.target}, {"sizes", sizes()}};
    const size_t entry = entry_function();
    model.graph = function(entry);
    for (size_t f = 0; f < after_.functions.size(); ++f)
      if (f != entry) model.functions.push_back(function(f));
    add_kernels(model);
    return model;
  }

 private:
  /// Adds a function for each kernel whose operators are known. Of calls of one kernel, the first decides.
  void add_kernels(ViewerModel& model) const {
    const KernelOperators operators(report_.before, after_, names_);
    std::set<std::string> added(after_.functions.begin(), after_.functions.end());
    for (size_t i = 0; i < after_.nodes.size(); ++i) {
      if (after_.nodes[i].kind != "kernel" || added.count(after_.nodes[i].label) != 0) continue;
      ViewerGraph function = operators.of(i);
      if (function.nodes.empty()) continue;
      added.insert(after_.nodes[i].label);
      model.functions.push_back(std::move(function));
    }
  }

  /// Returns the function of the first profile, which is an entry point.
  size_t entry_function() const {
    for (size_t f = 0; f < after_.functions.size(); ++f)
      if (!report_.profiles.empty() && after_.functions[f] == report_.profiles[0].name) return f;
    return 0;
  }

  /// Returns what the numbers in lists of attributes are of: "main at n=1; main at n=16".
  std::string sizes() const {
    std::vector<std::string> all;
    for (const EntryProfile& profile : report_.profiles) {
      std::vector<std::string> symbols;
      for (const auto& [symbol, number] : profile.symbols) symbols.push_back(fmt::format("{}={}", symbol, number));
      all.push_back(profile.name + (symbols.empty() ? "" : " at ") + fmt::format("{}", fmt::join(symbols, ", ")));
    }
    return printable(fmt::format("{}", fmt::join(all, "; ")));
  }

  ViewerGraph function(size_t index) {
    ViewerGraph graph;
    graph.name = printable(after_.functions[index]);
    for (size_t i = 0; i < after_.nodes.size(); ++i) {
      const GraphNode& node = after_.nodes[i];
      if (node.function != static_cast<int32_t>(index) || node.parent >= 0) continue;
      if (node.kind == "input")
        graph.inputs.push_back(viewer_value(names_.read(i), node));
      else if (node.kind == "output")
        add_result(graph, i);
      else
        add_node(graph, i);
    }
    return graph;
  }

  void add_result(ViewerGraph& graph, size_t output) {
    const GraphNode& node = after_.nodes[output];
    const std::vector<size_t>& producers = names_.producers(output);
    if (producers.size() == 1) {
      graph.outputs.push_back(viewer_value(names_.read(output), node));
      if (names_.is_made_alone(output)) return;
      ViewerNode same;
      same.op = "identity", same.inputs = names_.operands(output), same.outputs = {names_.read(output)};
      graph.nodes.push_back(std::move(same));
      return;
    }
    for (size_t from : producers) graph.outputs.push_back(viewer_value(names_.read(from), after_.nodes[from]));
  }

  void add_node(ViewerGraph& graph, size_t index) {
    const GraphNode& node = after_.nodes[index];
    ViewerNode made = viewer_node(names_.read(index), node);
    made.inputs = names_.operands(index), made.outputs = names_.made(index);
    add_costs(made, node.label, report_);
    add_regions(made, index);
    if (node.tensor) graph.values.push_back(viewer_value(names_.read(index), node));
    graph.nodes.push_back(std::move(made));
  }

  /// Adds the branches of an If, or the body of a Loop, as graphs whose results are the values that nothing reads.
  void add_regions(ViewerNode& made, size_t index) {
    std::vector<ViewerGraph> regions;
    std::set<size_t> read;
    for (size_t i : inside_[index]) {
      const auto region = static_cast<size_t>(after_.nodes[i].region);
      if (region >= regions.size()) regions.resize(region + 1);
      add_node(regions[region], i);
      read.insert(names_.producers(i).begin(), names_.producers(i).end());
    }
    for (size_t i : inside_[index]) {
      const GraphNode& node = after_.nodes[i];
      if (read.count(i) == 0)
        regions[static_cast<size_t>(node.region)].outputs.push_back(viewer_value(names_.read(i), node));
    }
    const bool branches = after_.nodes[index].label == "if";
    for (size_t r = 0; r < regions.size(); ++r) {
      const char* name = !branches ? "body" : r == 0 ? "then_branch" : "else_branch";
      regions[r].name = name;
      made.attributes.emplace_back(name, std::move(regions[r]));
    }
  }

  const PerformanceReport& report_;
  const GraphView& after_;
  ValueNames names_;
  std::vector<std::vector<size_t>> inside_;  ///< the nodes in each branch and loop
};

}  // namespace

std::string kernel_graph_onnx(const PerformanceReport& report) {
  return frontend::viewer_model_bytes(KernelGraph(report).run());
}

}  // namespace relaxc::api
