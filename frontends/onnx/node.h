// node.h: a node of the graph as its converter sees it: inputs, attributes, outputs, and a way to emit operators.
//
// Each part has a class (node_inputs.h, node_attributes.h, emission.h). What needs one part alone takes that part.
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
  /// Makes output `index` what input `from` is.
  Status forward(size_t index, size_t from);

  // Other operators' converters.
  /// Converts the node as operator `op` of ai.onnx, as `opset` defines it.
  Status convert_as(std::string_view op, int64_t opset);
  /// The first output of operator `op` of ai.onnx, as `opset` defines it, on `inputs` (null: absent) with the
  /// attributes of this node.
  Result<Value*> apply(std::string_view op, int64_t opset, const std::vector<Value*>& inputs);
};

/// The one number that an input of any dtype and rank holds.
Result<Expr> number_in(Node& node, size_t input);

}  // namespace relaxc::frontend
