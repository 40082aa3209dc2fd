// node_conversion.cpp: see node_conversion.h.
#include "frontends/onnx/node_conversion.h"

#include <stdexcept>

#include "frontends/onnx/check_node.h"
#include "frontends/onnx/composite.h"
#include "frontends/onnx/custom_op.h"
#include "frontends/onnx/importer.h"
#include "frontends/onnx/string_permutation.h"
#include "frontends/onnx/strings.h"

namespace relaxc::frontend {

using onnx::NodeProto;

void NodeConversion::find_operands(const NodeProto& node, Location where) {
  if (options_.findings == nullptr) return;
  NodeFinding& finding = options_.findings->nodes[where];
  finding.domain = node.domain().empty() ? "ai.onnx" : node.domain();
  for (const std::string& name : node.input()) {
    OperandFinding& operand = finding.inputs.emplace_back(OperandFinding{name, "unknown", {}, {}});
    NamedValue* slot = name.empty() ? nullptr : importer_.find(name);
    if (name.empty() || (slot != nullptr && slot->absent)) operand.form = "none";
    if (slot == nullptr || slot->failed || slot->absent) continue;
    operand.form = slot->composite != nullptr ? std::string(form_of(*slot)) : "tensor";
    if (slot->value != nullptr) {
      const auto* tensor = slot->value->info->as<TensorInfo>();
      if (tensor == nullptr || !tensor->shape || !tensor->dtype) continue;
      operand.dtype = to_string(*tensor->dtype);
      for (Expr extent : *tensor->shape) operand.shape.push_back(arith::to_string(extent));
    } else if (slot->known) {
      operand.dtype = to_string(slot->known->dtype);
      for (int64_t extent : slot->known->shape) operand.shape.push_back(std::to_string(extent));
    }
  }
}

bool NodeConversion::convert(Node& node, bool ready) {
  const NodeProto& proto = node.proto;
  std::string domain = domain_of(proto.domain());
  if (const CustomOp* custom = find_custom(options_, proto))
    return ready && check_attributes(node, importer_.innermost()) && convert_custom_op(*custom, node);
  if (const onnx::FunctionProto* function = find_function(model_, proto))
    return ready && importer_.call_function(*function, node);
  if (node.opset == 0) {
    diag.error(node.location, Kind::malformed_model, "the {} imports no opset of domain '{}'",
               importer_.innermost() == nullptr ? "model" : "function", domain.empty() ? "ai.onnx" : domain);
    return false;
  }
  if (const Converter* converter = converters_.find(domain, proto.op_type()))
    return ready && convert_checked(*converter, node);
  diag.error(node.location, Kind::unknown_operator,
             "there is no converter for this operator; --custom-op '{}::{}=* -> like(0)' makes it a call of a C "
             "function, with "
             "a rule that says what its results are",
             domain.empty() ? "ai.onnx" : domain, proto.op_type());
  if (auto near = nearest_operator(converters_, domain, proto.op_type())) diag.note(nullptr, "did you mean {}?", *near);
  return false;
}

void NodeConversion::note_inputs(const NodeProto& proto) {
  std::string types;
  for (const std::string& name : proto.input()) {
    NamedValue* slot = name.empty() ? nullptr : importer_.find(name);
    std::string type = slot == nullptr || slot->value == nullptr ? "" : ": " + relax::to_string(slot->value->info);
    types += (types.empty() ? "" : ", ") + (name.empty() ? std::string("none") : name + type);
  }
  if (!types.empty()) diag.note(nullptr, "inputs: {}", types);
}

Status NodeConversion::convert_as(std::string_view op, Node& node) {
  const Converter* converter = converters_.find("", op);
  RELAXC_CHECK(converter != nullptr, "no converter for " + std::string(op));
  return convert_with(*converter, node);
}

/// Checks the node against the signature of its operator, if there is one, and converts it.
Status NodeConversion::convert_checked(const Converter& converter, Node& node) {
  std::optional<Signature> signature = signatures_.find(converter.domain, converter.name, node.opset);
  // A refused operator is not checked: the reason for the refusal is the message, whatever the node looks like.
  if (signature && converter.note != "refused") RELAXC_DO(check_node(node, *signature, importer_.innermost()));
  if (signature) note_implicit_attributes(node, *signature);
  return convert_with(converter, node);
}

void NodeConversion::note_implicit_attributes(const Node& node, const Signature& signature) {
  if (options_.findings == nullptr) return;
  ImplicitAttributes implicit{node.location, {}};
  for (const AttributeFormal& formal : signature.attributes)
    if (!node.has_attr(formal.name)) implicit.names.emplace_back(formal.name);
  if (!implicit.names.empty()) options_.findings->implicit_attributes.push_back(std::move(implicit));
}

Status NodeConversion::convert_with(const Converter& converter, Node& node) {
  if (node.opset < converter.since)
    return node.error(Kind::unsupported, "opset {} of this operator is not supported; {} and later are", node.opset,
                      converter.since);
  bool strings = false;
  for (size_t i = 0; i < node.inputs(); ++i) strings = strings || is_strings(node, i);
  bool positions = strings && converter.strings != Converter::Strings::kOwn;
  try {
    if (!positions && converter.fold != nullptr && converter.fold(node)) return Done{};
    RELAXC_DO(positions ? convert_on_positions(converter, node) : converter.convert(node));
  } catch (const std::logic_error&) {  // out_of_range or length_error from a container: too few dims or values
    return node.error(Kind::rank_mismatch,
                      "an input or attribute does not have the rank or length that the operator takes");
  }
  for (size_t i = 0; i < node.outputs(); ++i)
    if (node.wants(i) && importer_.scope().slots.count(node.proto.output(static_cast<int>(i))) == 0)
      return node.error(Kind::unsupported, "output {} ('{}') is not supported", i,
                        node.proto.output(static_cast<int>(i)));
  return Done{};
}

}  // namespace relaxc::frontend
