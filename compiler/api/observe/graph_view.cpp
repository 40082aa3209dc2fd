// graph_view.cpp: selects the ops to draw, and prints Graphviz's language.
//
// A drawing of a network is about its computations: constants, shapes, scalars and tuples would be most of its nodes
// and hide these. Edges go through tuples to their fields.
#include "compiler/api/observe/graph_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "compiler/api/observe/profile.h"
#include "compiler/relax/op_def.h"
#include "compiler/support/unicode.h"

namespace relaxc::api {
namespace {

using relax::Op;
using relax::OpKind;
using relax::Value;

class Viewing {
 public:
  explicit Viewing(const relax::Module& module) {
    for (relax::Function* function : module.functions()) {
      view_.functions.push_back(function->name);
      for (const Value* parameter : function->body().arguments)
        makers_[parameter] = {add(end_node("input", parameter->name), parameter)};
      region(function->body(), -1, 0);
      outputs(*function);
    }
    for (const auto& [from, to] : edges_) view_.edges.emplace_back(from, to);
  }
  GraphView take() { return std::move(view_); }

 private:
  int32_t current() const { return static_cast<int32_t>(view_.functions.size()) - 1; }

  /// Returns the node of an input or a result of the current function.
  GraphNode end_node(const char* kind, std::string label) const {
    GraphNode node;
    node.label = std::move(label), node.kind = kind, node.function = current();
    return node;
  }

  /// Adds a node whose first result is `value`, which may be null.
  int32_t add(GraphNode node, const Value* value) {
    if (value != nullptr) {
      node.type = relax::to_string(value->info);
      if (const auto* tensor = value->info->as<relax::TensorInfo>()) node.tensor = describe(*tensor);
    }
    view_.nodes.push_back(std::move(node));
    return static_cast<int32_t>(view_.nodes.size()) - 1;
  }

  /// Adds a node for each result of a function: what it returns, or the fields if that is a tuple.
  void outputs(const relax::Function& function) {
    std::vector<const Value*> results;
    for (const Value* result : function.body().results()) {
      const bool fields = result != nullptr && result->op != nullptr && result->op->kind == OpKind::kTuple;
      if (!fields) results.push_back(result);
      if (fields) results.insert(results.end(), result->op->operands().begin(), result->op->operands().end());
    }
    std::vector<std::string> names = function.output_names;
    if (names.size() != results.size()) names.assign(results.size(), "");  // it names the fields of tuples in tuples
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i] == nullptr) continue;
      std::string name = names[i].empty() ? results[i]->name : names[i];
      connect(*results[i], add(end_node("output", name.empty() ? "result" : std::move(name)), results[i]));
    }
  }

  void connect(const Value& from, int32_t to) {
    auto made = makers_.find(&from);
    if (made == makers_.end()) return;
    for (int32_t node : made->second) edges_.insert({node, to});
  }

  void region(const relax::Region& here, int32_t parent, int32_t index) {
    for (const Op* op : relax::ops_of(here)) {
      if (op->kind == OpKind::kConstant || op->kind == OpKind::kShape || op->kind == OpKind::kPrim) continue;
      bool renames = op->kind == OpKind::kTuple || op->kind == OpKind::kTupleGet || op->kind == OpKind::kMatchCast;
      if (renames) {
        pass_through(*op);
        continue;
      }
      int32_t node = add(describe(*op, parent, index), op->results.empty() ? nullptr : op->results[0]);
      for (const Value* operand : op->operands())
        if (operand != nullptr) connect(*operand, node);
      for (const Value* result : op->results) makers_[result] = {node};
      for (size_t i = 0; i < op->regions.size(); ++i) region(*op->regions[i], node, static_cast<int32_t>(i));
    }
  }

  void pass_through(const Op& op) {
    std::vector<int32_t>& made = makers_[op.result()];
    for (const Value* operand : op.operands())
      if (auto from = makers_.find(operand); from != makers_.end())
        made.insert(made.end(), from->second.begin(), from->second.end());
  }

  static GraphTensor describe(const relax::TensorInfo& info) {
    GraphTensor tensor{info.dtype, {}};
    if (!info.shape) return tensor;
    tensor.dims.emplace();
    for (arith::Expr dim : *info.shape) tensor.dims->push_back(arith::to_string(dim));
    return tensor;
  }

  GraphNode describe(const Op& op, int32_t parent, int32_t region) const {
    GraphNode node;
    node.kind = op.kind == OpKind::kOperator ? "op" : !op.regions.empty() ? "control" : "kernel";
    if (op.kind == OpKind::kOperator)
      node.label = std::string(op.def->name.text());
    else if (op.kind == OpKind::kIf || op.kind == OpKind::kLoop)
      node.label = op.kind == OpKind::kIf ? "if" : "loop";
    else
      node.label = op.callee.empty() ? "call" : op.callee;
    for (Location origin : op.origins.empty() ? std::vector<Location>{op.location} : op.origins)
      if (std::string place = short_location(origin);
          !place.empty() && std::find(node.sources.begin(), node.sources.end(), place) == node.sources.end())
        node.sources.push_back(std::move(place));
    node.function = current();
    node.parent = parent;
    node.region = region;
    return node;
  }

  GraphView view_;
  std::unordered_map<const Value*, std::vector<int32_t>> makers_;
  std::set<std::pair<int32_t, int32_t>> edges_;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return with_visible(out, [](std::string_view) { return std::string(" "); }) + "\"";
}

/// Prints a graph as DOT, with a cluster for each function, and one for each branch or loop and the nodes in it.
class DotText {
 public:
  explicit DotText(const GraphView& graph) : graph_(graph), inside_(graph.nodes.size()) {
    std::vector<std::vector<size_t>> outermost(graph.functions.size());
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const GraphNode& at = graph.nodes[i];
      (at.parent < 0 ? outermost[static_cast<size_t>(at.function)] : inside_[static_cast<size_t>(at.parent)])
          .push_back(i);
    }
    for (size_t f = 0; f < outermost.size(); ++f) {
      text_ += fmt::format("  subgraph cluster_{} {{\n    label={};\n", f, quoted(graph.functions[f]));
      for (size_t i : outermost[f]) node(i, 4);
      text_ += "  }\n";
    }
    for (const auto& [from, to] : graph.edges) text_ += fmt::format("  n{} -> n{};\n", from, to);
  }
  std::string take() { return std::move(text_); }

 private:
  void node(size_t i, size_t indent) {
    const GraphNode& at = graph_.nodes[i];
    bool edge_of_graph = at.kind == "input" || at.kind == "output";
    std::string style = edge_of_graph ? ", style=rounded" : at.kind == "control" ? ", style=dashed" : "";
    bool holds = !inside_[i].empty();
    if (holds) {
      text_ += fmt::format("{0:{1}}subgraph cluster_n{2} {{\n{0:{1}}  label=\"\";\n", "", indent, i);
      indent += 2;
    }
    text_ += fmt::format("{:{}}n{} [label={}, tooltip={}{}];\n", "", indent, i, quoted(at.label),
                         quoted(fmt::format("{} {}", at.type, fmt::join(at.sources, ", "))), style);
    for (size_t inner : inside_[i]) node(inner, indent);
    if (holds) text_ += fmt::format("{:{}}}}\n", "", indent - 2);
  }

  const GraphView& graph_;
  std::vector<std::vector<size_t>> inside_;  ///< the nodes in each branch and loop
  std::string text_;
};

}  // namespace

GraphView view_graph(const relax::Module& module) {
  return Viewing(module).take();
}

std::vector<int32_t> groups_of(const GraphView& before, const GraphView& after) {
  std::map<std::string, int32_t> by_source;
  for (size_t i = 0; i < after.nodes.size(); ++i)
    for (const std::string& source : after.nodes[i].sources) by_source.emplace(source, static_cast<int32_t>(i));
  std::vector<int32_t> groups;
  for (const GraphNode& node : before.nodes) {
    groups.push_back(-1);
    for (const std::string& source : node.sources)
      if (auto found = by_source.find(source); found != by_source.end() && groups.back() < 0)
        groups.back() = found->second;
  }
  return groups;
}

std::string dot_text(const GraphView& graph, const std::string& title) {
  return fmt::format("digraph {} {{\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n", quoted(title)) +
         DotText(graph).take() + "}\n";
}

}  // namespace relaxc::api
