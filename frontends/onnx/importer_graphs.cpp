// importer_graphs.cpp: graphs as wholes: the order of their nodes, model-local functions, the bodies of control flow.
#include <algorithm>
#include <iterator>
#include <queue>
#include <utility>

#include "frontends/onnx/check_node.h"
#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

using google::protobuf::RepeatedPtrField;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::ValueInfoProto;

namespace {

/// Every level of dependents is converted twice.
constexpr int kDeepestDependents = 6;

/// Names that a node reads, those that its subgraphs take from outside included: what a subgraph makes itself is its
/// own, even where the graph around it has another value of that name.
void collect_reads(const NodeProto& node, std::set<std::string>& reads) {
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

/// Who waits for whom.
struct Makers {
  std::vector<std::vector<int>> users;  ///< of each node: the nodes that read what it makes
  std::vector<int> missing;             ///< of each node: how many nodes it waits for
};

Makers makers_of(const RepeatedPtrField<NodeProto>& nodes) {
  std::map<std::string, int> maker;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& output : nodes[i].output())
      if (!output.empty()) maker.try_emplace(output, i);
  auto count = static_cast<size_t>(nodes.size());
  Makers out{std::vector<std::vector<int>>(count), std::vector<int>(count, 0)};
  for (int i = 0; i < nodes.size(); ++i) {
    std::set<std::string> reads;
    collect_reads(nodes[i], reads);
    std::set<int> makers;
    for (const std::string& name : reads)
      if (auto found = maker.find(name); found != maker.end()) makers.insert(found->second);
    for (int from : makers) {
      out.users[static_cast<size_t>(from)].push_back(i);
      ++out.missing[static_cast<size_t>(i)];
    }
  }
  return out;
}

/// The nodes that wait for nothing, and so on, lower numbers first; `missing` keeps what the others wait for.
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

/// Node numbers in an order in which everything is made before it is used; the given order where it is one. Nodes on a
/// cycle are reported and left out.
std::vector<int> GraphImporter::order(const RepeatedPtrField<NodeProto>& nodes) {
  Makers makers = makers_of(nodes);
  std::vector<int> order = sorted(makers);
  if (static_cast<int>(order.size()) != nodes.size()) {
    report_cycle(nodes, makers.missing);
    return order;
  }
  for (int i = 0; i < nodes.size(); ++i) {
    if (order[static_cast<size_t>(i)] == i) continue;
    diag.warning(file_, Kind::malformed_model,
                 "nodes are not in topological order: '{}' comes too early; they are "
                 "sorted",
                 label(nodes[i], i));
    break;
  }
  return order;
}

/// Reports the nodes that still miss something, and lets what they would give fail.
void GraphImporter::report_cycle(const RepeatedPtrField<NodeProto>& nodes, const std::vector<int>& missing) {
  std::string names;
  int shown = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    if (missing[static_cast<size_t>(i)] == 0) continue;
    if (++shown <= 8) names += (names.empty() ? "'" : ", '") + label(nodes[i], i) + "'";
    fail_outputs(nodes[i]);
  }
  diag.error(file_, Kind::malformed_model, "the graph has a cycle; these nodes are on it or depend on it: {}{}", names,
             shown > 8 ? " and " + std::to_string(shown - 8) + " more" : "");
}

/// The body of a model-local function in place of its call.
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
  Scope* outer = scope_;
  scope_ = &scope;
  calls_.push_back(&function);
  size_t errors = diag.error_count();
  nodes(function.node(), {function.output().begin(), function.output().end()});
  calls_.pop_back();
  scope_ = outer;
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

/// What a graph gives: tensors that are made if need be, if so asked.
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
    std::set<std::string> reads;
    collect_reads(*rest.nodes[i].first, reads);
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
  Scope* outer = std::exchange(scope_, &scope);
  for (size_t i = 0; i < made.size() && static_cast<int>(i) < node.output_size(); ++i)
    if (const std::string& name = node.output(static_cast<int>(i)); !name.empty()) scope.slots[name] = made[i];
  size_t errors = diag.error_count();
  ++dependents_;
  convert_all(dependents);
  --dependents_;
  std::vector<NamedValue> results = given(dependents.outputs, true);
  scope_ = outer;
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
  Scope* outer = scope_;
  scope_ = &scope;
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
  scope_ = outer;
  if (diag.error_count() > errors) return diag.failed();
  bool failed = std::any_of(results.begin(), results.end(), [](const NamedValue& slot) { return slot.failed; });
  if (failed) return diag.failed();
  return results;
}

}  // namespace relaxc::frontend
