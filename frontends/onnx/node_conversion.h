// node_conversion.h: converts one node to operators of relaxc, and reports nodes that cannot be.
#pragma once

#include "frontends/onnx/converter.h"
#include "frontends/onnx/import.h"
#include "frontends/onnx/signature.h"

namespace relaxc::frontend {

class NodeConversion {
 public:
  NodeConversion(GraphImporter& importer, const onnx::ModelProto& model, const ImportOptions& options,
                 Diagnostics& diag)
      : importer_(importer), model_(model), options_(options), diag(diag), converters_(converter_table()) {}

  /// Converts the node by the custom operator, function or converter for it. Reports an unknown operator even if its
  /// operands are not `ready`. Returns false if its outputs have no values.
  bool convert(Node& node, bool ready);
  /// Converts the node as operator `op` of ai.onnx, whatever its own is.
  Status convert_as(std::string_view op, Node& node);
  /// Records the node's operands in the options' findings, as far as they are known.
  void find_operands(const onnx::NodeProto& node, Location where);
  /// Adds a note on the node's inputs to the last error.
  void note_inputs(const onnx::NodeProto& proto);

  const ConverterTable& converters() const { return converters_; }
  const SignatureTable& signatures() const { return signatures_; }

 private:
  Status convert_checked(const Converter& converter, Node& node);
  /// Tells the findings which of the operator's attributes the node does not have.
  void note_implicit_attributes(const Node& node, const Signature& signature);
  Status convert_with(const Converter& converter, Node& node);

  GraphImporter& importer_;
  const onnx::ModelProto& model_;
  const ImportOptions& options_;
  Diagnostics& diag;
  ConverterTable converters_;
  SignatureTable signatures_;
};

}  // namespace relaxc::frontend
