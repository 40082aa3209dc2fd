// node_conversion.h: how one node becomes operators of ours, and what is said of one that does not.
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

  /// The node by what there is for its operator; what there is none for is reported though its operands are not
  /// `ready`. False: its outputs have no values.
  bool convert(Node& node, bool ready);
  /// The node as operator `op` of ai.onnx, whatever it is called.
  Status convert_as(std::string_view op, Node& node);
  /// Tells the options' findings what the node reads, as far as it is known.
  void find_operands(const onnx::NodeProto& node, Location where);
  /// What the node is given, for the error before.
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
