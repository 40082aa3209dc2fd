// unreached_nodes.cpp: checks the nodes of a file that the import does not reach: branches that a constant excludes,
// bodies of loops that never run, functions that are never called.
//
// They have no effect on the compiled program, but a file with a malformed one is malformed, and is refused as in other
// runtimes. The checks need no conversion: operators, arguments, attributes (check_node.h), and that every name is
// defined.
#include "frontends/onnx/unreached_nodes.h"

#include "frontends/onnx/check_node.h"

namespace relaxc::frontend {

using google::protobuf::RepeatedPtrField;
using onnx::GraphProto;
using onnx::NodeProto;

/// Names that are visible in one graph, including those of the enclosing graphs.
struct UnreachedNodes::Visible {
  const Visible* outer = nullptr;
  std::set<std::string_view> names;
  const onnx::FunctionProto* function = nullptr;
  bool called = true;  ///< whether the function is called

  bool has(std::string_view name) const {
    for (const Visible* one = this; one != nullptr; one = one->outer)
      if (one->names.count(name) != 0) return true;
    return false;
  }
};

void UnreachedNodes::check() {
  check_graph(model_.graph(), nullptr);
  for (const onnx::FunctionProto& function : model_.functions()) {
    Visible visible;
    visible.function = &function;
    visible.called = function.node_size() > 0 && visited_.count(&function.node(0)) != 0;
    visible.names.insert(function.input().begin(), function.input().end());
    Scope scope;
    scope.function = true;
    for (const auto& import : function.opset_import()) scope.opsets[domain_of(import.domain())] = import.version();
    for (const auto& attribute : function.attribute_proto()) scope.attributes[attribute.name()] = &attribute;
    GraphImporter::Within within(importer_, scope);
    check_nodes(function.node(), visible);
  }
}

void UnreachedNodes::check_graph(const GraphProto& graph, const Visible* outer) {
  Visible visible;
  visible.outer = outer;
  if (outer != nullptr) visible.function = outer->function, visible.called = outer->called;
  for (const auto& input : graph.input()) visible.names.insert(input.name());
  for (const auto& tensor : graph.initializer()) visible.names.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) visible.names.insert(tensor.values().name());
  check_nodes(graph.node(), visible);
}

void UnreachedNodes::check_nodes(const RepeatedPtrField<NodeProto>& nodes, Visible& visible) {
  for (const NodeProto& node : nodes) visible.names.insert(node.output().begin(), node.output().end());
  for (int i = 0; i < nodes.size(); ++i) {
    if (visited_.count(&nodes[i]) == 0) check_node(nodes[i], i, visible);
    for (const onnx::AttributeProto& attribute : nodes[i].attribute()) {
      if (attribute.has_g()) check_graph(attribute.g(), &visible);
      for (const GraphProto& graph : attribute.graphs()) check_graph(graph, &visible);
    }
  }
}

void UnreachedNodes::check_node(const NodeProto& proto, int number, const Visible& visible) {
  std::string domain = domain_of(proto.domain());
  auto opset = importer_.scope().opsets.find(domain);
  int64_t version = opset == importer_.scope().opsets.end() ? 0 : opset->second;
  Location where = importer_.module().sources().at(
      NodeOrigin{importer_.files().path(), label(proto, number), qualified(proto), version});
  for (const std::string& name : proto.input())
    if (!name.empty() && !visible.has(name))
      importer_.diagnostics().error(where, Kind::unbound_name,
                                    "input '{}' is not made by a node and is not an input or initializer of the graph",
                                    name);
  Node node(importer_, proto, version, where);
  if (find_custom(options_, proto) != nullptr) return static_cast<void>(bool(check_attributes(node, visible.function)));
  if (const onnx::FunctionProto* callee = find_function(model_, proto))
    return static_cast<void>(bool(check_call(node, *callee, visible.function)));
  if (version == 0) {
    importer_.diagnostics().error(where, Kind::malformed_model, "the {} imports no opset of domain '{}'",
                                  visible.function == nullptr ? "model" : "function",
                                  domain.empty() ? "ai.onnx" : domain);
    return;
  }
  const Converter* converter = tables_.converters().find(domain, proto.op_type());
  std::optional<Signature> signature = tables_.signatures().find(domain, proto.op_type(), version);
  if (converter == nullptr && !signature && domain.empty())
    importer_.diagnostics().error(where, Kind::unknown_operator, "there is no operator of this name");
  if (signature && (converter == nullptr || converter->note != "refused"))
    static_cast<void>(bool(frontend::check_node(node, *signature, visible.function, visible.called)));
}

}  // namespace relaxc::frontend
