// node.h: a node of the graph for its converter: inputs, attributes, outputs, and emission of operators.
//
// Each aspect has a class (node_inputs.h, node_attributes.h, emission.h). Functions that need only one take that class.
#pragma once

#include <string_view>
#include <vector>

#include "frontends/onnx/node_attributes.h"
#include "frontends/onnx/node_inputs.h"

namespace relaxc::frontend {

class Node : public Emission, public NodeAttributes, public NodeInputs {
 public:
  Node(GraphImporter& importer, const onnx::NodeProto& proto, int64_t opset, Location location)
      : Emission(importer, location),
        NodeAttributes(static_cast<const NodeSite&>(*this), proto),
        NodeInputs(static_cast<Emission&>(*this), proto),
        proto(proto),
        opset(opset) {}

  const onnx::NodeProto& proto;
  const int64_t opset;  ///< of the node's domain

  // Outputs.
  size_t outputs() const { return static_cast<size_t>(proto.output_size()); }
  bool wants(size_t index) const { return index < outputs() && !proto.output(static_cast<int>(index)).empty(); }
  Status set(size_t index, Value* value);
  Status set(size_t index, Result<Value*> value);
  bool set_known(size_t index, Known known);
  /// Sets output `index` to input `from`.
  Status forward(size_t index, size_t from);

  // Other operators' converters.
  /// Converts the node as operator `op` of ai.onnx, as `opset` defines it.
  Status convert_as(std::string_view op, int64_t opset);
  /// Returns the first output of operator `op` of ai.onnx, as `opset` defines it, on `inputs` (null: absent) with the
  /// attributes of this node.
  Result<Value*> apply(std::string_view op, int64_t opset, const std::vector<Value*>& inputs);
};

/// Returns the only element of an input of any dtype and rank.
Result<Expr> number_in(Node& node, size_t input);

}  // namespace relaxc::frontend
