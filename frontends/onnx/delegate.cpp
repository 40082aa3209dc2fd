// delegate.cpp: converts a node as an operator of ai.onnx.
//
// Operators of other domains are often one of ai.onnx under another name, with a step before or after, or in another
// layout. They use its converter: the node is presented as one of that operator, at the required opset, in a scope of
// its own where its inputs are the given values.
#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

Status Node::convert_as(std::string_view op, int64_t as_opset) {
  onnx::NodeProto as = proto;
  as.set_op_type(std::string(op));
  Node node(importer(), as, as_opset, location);
  return importer().conversion().convert_as(op, node);
}

Result<Value*> Node::apply(std::string_view op, int64_t as_opset, const std::vector<Value*>& values) {
  onnx::NodeProto as = proto;
  as.set_op_type(std::string(op));
  as.clear_input();
  as.clear_output();
  const std::string output = wants(0) ? proto.output(0) : "result";
  as.add_output(output);
  Scope scope;
  scope.parent = &importer().scope();
  scope.attributes = importer().scope().attributes;
  for (Value* value : values) {
    std::string name = value == nullptr ? "" : "operand " + std::to_string(as.input_size());
    if (value != nullptr) scope.slots[name] = NamedValue{value, std::nullopt, false};
    as.add_input(name);
  }
  Node node(importer(), as, as_opset, location);
  GraphImporter::Within within(importer(), scope);
  RELAXC_DO(importer().conversion().convert_as(op, node));
  return importer().materialize(output);
}

}  // namespace relaxc::frontend
