// viewer_model.cpp: fills the messages of an ONNX model from graphs for viewers.
//
// Viewers show nodes of unknown domains by name, attributes and types of values, and open model-local functions and
// graphs in attributes. So relaxc's kernels need no schema, and nothing is said in a form that only one viewer reads.
#include "frontends/onnx/viewer_model.h"

#include <charconv>

#include "frontends/onnx/load.h"
#include "frontends/onnx/onnx.pb.h"

namespace relaxc::frontend {
namespace {

constexpr int64_t kIrVersion = 10;  // the first with types of values in functions

constexpr const char* text_of(ViewerDomain domain) {
  return domain == ViewerDomain::kKernels ? "relaxc.kernels" : "relaxc";
}

void set_opsets(google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& opsets) {
  for (ViewerDomain domain : {ViewerDomain::kOperators, ViewerDomain::kKernels}) {
    onnx::OperatorSetIdProto& own = *opsets.Add();
    own.set_domain(text_of(domain));
    own.set_version(1);
  }
}

void fill(onnx::ValueInfoProto& to, const ViewerValue& value) {
  to.set_name(value.name);
  std::optional<int32_t> code = value.dtype ? data_type_of(*value.dtype) : std::nullopt;
  if (!code) return;
  onnx::TypeProto::Tensor& tensor = *to.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(*code);
  if (!value.dims) return;
  onnx::TensorShapeProto& shape = *tensor.mutable_shape();
  for (const std::string& dim : *value.dims) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), number);
    if (error == std::errc() && end == dim.data() + dim.size())
      shape.add_dim()->set_dim_value(number);
    else
      shape.add_dim()->set_dim_param(dim);
  }
}

void fill(onnx::GraphProto& to, const ViewerGraph& graph);

void fill(onnx::AttributeProto& to, const std::string& name, const ViewerAttribute& value) {
  to.set_name(name);
  if (const auto* number = std::get_if<int64_t>(&value)) {
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    to.set_type(onnx::AttributeProto::STRING);
    to.set_s(*text);
  } else if (const auto* floats = std::get_if<std::vector<float>>(&value)) {
    to.set_type(onnx::AttributeProto::FLOATS);
    for (float number : *floats) to.add_floats(number);
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    to.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& text : *texts) to.add_strings(text);
  } else {
    to.set_type(onnx::AttributeProto::GRAPH);
    fill(*to.mutable_g(), std::get<ViewerGraph>(value));
  }
}

void fill(onnx::NodeProto& to, const ViewerNode& node) {
  to.set_name(node.name);
  to.set_op_type(node.op);
  to.set_domain(text_of(node.domain));
  for (const std::string& input : node.inputs) to.add_input(input);
  for (const std::string& output : node.outputs) to.add_output(output);
  for (const auto& [name, value] : node.attributes) fill(*to.add_attribute(), name, value);
}

void fill(onnx::GraphProto& to, const ViewerGraph& graph) {
  to.set_name(graph.name);
  for (const ViewerValue& input : graph.inputs) fill(*to.add_input(), input);
  for (const ViewerValue& output : graph.outputs) fill(*to.add_output(), output);
  for (const ViewerValue& value : graph.values) fill(*to.add_value_info(), value);
  for (const ViewerNode& node : graph.nodes) fill(*to.add_node(), node);
}

void fill(onnx::FunctionProto& to, const ViewerGraph& function) {
  to.set_name(function.name);
  to.set_domain(text_of(ViewerDomain::kKernels));
  set_opsets(*to.mutable_opset_import());
  for (const ViewerValue& input : function.inputs) to.add_input(input.name);
  for (const ViewerValue& output : function.outputs) to.add_output(output.name);
  for (const ViewerValue& value : function.values) fill(*to.add_value_info(), value);
  for (const ViewerNode& node : function.nodes) fill(*to.add_node(), node);
}

}  // namespace

std::string viewer_model_bytes(const ViewerModel& model) {
  onnx::ModelProto made;
  made.set_ir_version(kIrVersion);
  made.set_producer_name(model.producer);
  set_opsets(*made.mutable_opset_import());
  fill(*made.mutable_graph(), model.graph);
  for (const ViewerGraph& function : model.functions) fill(*made.add_functions(), function);
  for (const auto& [name, value] : model.metadata) {
    onnx::StringStringEntryProto& entry = *made.add_metadata_props();
    entry.set_key(name);
    entry.set_value(value);
  }
  return made.SerializeAsString();
}

}  // namespace relaxc::frontend
