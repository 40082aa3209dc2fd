// importer_graphs.cpp: whole graphs: the order of their nodes, model-local functions, bodies of control flow.
#include <algorithm>
#include <utility>

#include "frontends/onnx/check_node.h"
#include "frontends/onnx/importer.h"
#include "frontends/onnx/node_order.h"

namespace relaxc::frontend {

using google::protobuf::RepeatedPtrField;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::ValueInfoProto;

namespace {

/// Maximum nesting of Ifs whose branches differ in rank; each level converts the nodes that follow it twice.
constexpr int kDeepestDependents = 6;

}  // namespace

/// Converts all nodes of a graph in topological order. Nodes on a cycle, and those that depend on it, are
/// reported and left out.
void GraphImporter::nodes(const RepeatedPtrField<NodeProto>& nodes, std::vector<std::string> outputs) {
  const NodeOrder found = order_of(nodes);
  if (!found.cyclic.empty()) report_cycle(nodes, found.cyclic);
  NodeList list{{}, std::move(outputs)};
  bool sorted = !found.cyclic.empty();  // with a cycle, do not warn about the order
  for (int number : found.order) {
    const auto place = static_cast<int>(list.nodes.size());
    if (!sorted && number != place) {
      diag.warning(file_, Kind::malformed_model,
                   "nodes are not in topological order: '{}' comes too early; they are "
                   "sorted",
                   label(nodes[place], place));
      sorted = true;
    }
    list.nodes.emplace_back(&nodes[number], number);
  }
  convert_all(std::move(list));
}

/// Reports a cycle, and marks the outputs of the nodes on it or after it as failed.
void GraphImporter::report_cycle(const RepeatedPtrField<NodeProto>& nodes, const std::vector<int>& cyclic) {
  constexpr size_t kMostShown = 8;
  std::string names;
  for (size_t i = 0; i < cyclic.size(); ++i) {
    const NodeProto& node = nodes[cyclic[i]];
    if (i < kMostShown) names += (names.empty() ? "'" : ", '") + label(node, cyclic[i]) + "'";
    fail_outputs(node);
  }
  diag.error(file_, Kind::malformed_model, "the graph has a cycle; these nodes are on it or depend on it: {}{}", names,
             cyclic.size() > kMostShown ? " and " + std::to_string(cyclic.size() - kMostShown) + " more" : "");
}

/// Converts the nodes in order. The list is reversed, so that the next node is popped off its end.
void GraphImporter::convert_all(NodeList list) {
  std::reverse(list.nodes.begin(), list.nodes.end());
  NodeList* before = std::exchange(scope_->rest, &list);
  while (!list.nodes.empty() && !budget_.is_exceeded()) {
    auto [node, number] = list.nodes.back();
    list.nodes.pop_back();
    convert(*node, number);
  }
  scope_->rest = before;
}

/// Inlines the body of a model-local function in place of its call.
Status GraphImporter::call_function(const onnx::FunctionProto& function, Node& node) {
  if (std::find(calls_.begin(), calls_.end(), &function) != calls_.end())
    return node.error(Kind::malformed_model, "function '{}' calls itself", function.name());
  RELAXC_DO(check_call(node, function, innermost()));
  if (calls_.size() >= kDeepestCalls)
    return node.error(Kind::unsupported, "functions call each other {} deep, which is the most that is read",
                      kDeepestCalls);
  if (!budget_.allows(budget_.size_of(function), "this call of '" + function.name() + "'", node.location))
    return diag.failed();
  Scope scope;
  scope.parent = scope_;
  scope.function = true;
  RELAXC_DO(opsets(function.opset_import(), scope));
  for (int i = 0; i < function.input_size(); ++i) {
    NamedValue* slot = node.has(static_cast<size_t>(i)) ? find(node.proto.input(i)) : nullptr;
    NamedValue& parameter = scope.slots[function.input(i)];
    if (slot != nullptr) parameter = *slot;
    parameter.absent = slot == nullptr;
  }
  for (const auto& attribute : function.attribute_proto()) scope.attributes[attribute.name()] = &attribute;
  for (const auto& attribute : node.proto.attribute())
    if (const onnx::AttributeProto* given = node.attribute(attribute.name()))
      scope.attributes[attribute.name()] = given;
  size_t errors = diag.error_count();
  {
    Within within(*this, scope);
    calls_.push_back(&function);
    nodes(function.node(), {function.output().begin(), function.output().end()});
    calls_.pop_back();
  }
  if (diag.error_count() > errors) return diag.failed();
  for (int i = 0; i < function.output_size() && i < node.proto.output_size(); ++i) {
    auto made = scope.slots.find(function.output(i));
    if (made == scope.slots.end())
      return node.error(Kind::unbound_name, "function '{}' does not make its output '{}'", function.name(),
                        function.output(i));
    if (node.wants(static_cast<size_t>(i))) scope_->slots[node.proto.output(i)] = made->second;
  }
  return Done{};
}

/// Returns a graph's outputs; with `as_tensors`, an output that has no value yet is materialized as a tensor.
std::vector<NamedValue> GraphImporter::given(const std::vector<std::string>& outputs, bool as_tensors) {
  std::vector<NamedValue> results;
  for (const std::string& output : outputs) {
    NamedValue* slot = find(output);
    if (slot == nullptr)
      diag.error(builder_->location, Kind::unbound_name, "the subgraph's output '{}' is not made by any node", output);
    else if (!slot->failed && as_tensors && slot->value == nullptr && slot->composite == nullptr)
      static_cast<void>(bool(materialize(output)));
    if (slot != nullptr) results.push_back(*find(output));
  }
  return results;
}

Result<NodeList> GraphImporter::take_dependents(const NodeProto& node) {
  if (dependents_ >= kDeepestDependents)
    return diag.error(builder_->location, Kind::unsupported,
                      "more than {} branches of different rank are inside of each other", kDeepestDependents);
  std::set<std::string> made(node.output().begin(), node.output().end());
  made.erase("");
  NodeList& rest = *scope_->rest;
  NodeList taken, left{{}, rest.outputs};
  for (size_t i = rest.nodes.size(); i-- > 0;) {
    const std::set<std::string> reads = reads_of(*rest.nodes[i].first);
    bool depends = std::any_of(reads.begin(), reads.end(), [&](const auto& name) { return made.count(name) != 0; });
    (depends ? taken : left).nodes.push_back(rest.nodes[i]);
    if (depends) made.insert(rest.nodes[i].first->output().begin(), rest.nodes[i].first->output().end());
  }
  std::reverse(left.nodes.begin(), left.nodes.end());
  rest.nodes = std::move(left.nodes);
  for (const std::string& output : rest.outputs)
    if (made.count(output) != 0) taken.outputs.push_back(output);
  return taken;
}

Result<std::vector<NamedValue>> GraphImporter::inline_dependents(const NodeProto& node, std::vector<NamedValue> made,
                                                                 const NodeList& dependents, relax::Block* block) {
  Scope scope;
  scope.parent = scope_;
  scope.opsets = scope_->opsets;
  scope.attributes = scope_->attributes;
  Inside inside(*this, block);
  Within within(*this, scope);
  for (size_t i = 0; i < made.size() && static_cast<int>(i) < node.output_size(); ++i)
    if (const std::string& name = node.output(static_cast<int>(i)); !name.empty()) scope.slots[name] = made[i];
  size_t errors = diag.error_count();
  ++dependents_;
  convert_all(dependents);
  --dependents_;
  std::vector<NamedValue> results = given(dependents.outputs, true);
  bool failed = std::any_of(results.begin(), results.end(), [](const NamedValue& slot) { return slot.failed; });
  if (failed || diag.error_count() > errors) return diag.failed();
  return results;
}

Result<std::vector<NamedValue>> GraphImporter::inline_graph(const GraphProto& graph, std::vector<NamedValue> arguments,
                                                            relax::Block* block) {
  Scope scope;
  scope.parent = scope_;
  scope.opsets = scope_->opsets;
  scope.attributes = scope_->attributes;
  std::optional<Inside> inside;
  if (block != nullptr) inside.emplace(*this, block);
  Within within(*this, scope);
  size_t errors = diag.error_count();
  std::set<std::string> initialized;
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  size_t next = 0;
  for (const ValueInfoProto& input : graph.input())
    if (initialized.count(input.name()) == 0 && next < arguments.size())
      define(input.name(), std::move(arguments[next++]), builder_->location);
  initializers(graph);
  nodes(graph.node(), names_of(graph.output()));
  std::vector<NamedValue> results = given(names_of(graph.output()), block != nullptr);
  if (diag.error_count() > errors) return diag.failed();
  bool failed = std::any_of(results.begin(), results.end(), [](const NamedValue& slot) { return slot.failed; });
  if (failed) return diag.failed();
  return results;
}

}  // namespace relaxc::frontend
