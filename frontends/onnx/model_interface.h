// model_interface.h: converts the declared inputs and outputs of a model.
#pragma once

#include <string>
#include <vector>

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

class ModelInterface {
 public:
  /// `file` is the location of errors of the model as a whole.
  ModelInterface(GraphImporter& importer, const onnx::ModelProto& model, const ImportOptions& options, Location file)
      : importer_(importer), model_(model), options_(options), file_(file), diag(importer.diagnostics()) {}

  /// Makes the function's parameters, which are the values of the graph's inputs.
  Status define_parameters(const onnx::GraphProto& graph, Parameters& parameters);
  /// Compares the model's declaration of a value with what was deduced.
  void check_declared(const onnx::ValueInfoProto& declared, bool output);
  /// Sets the function's results and their names.
  Status add_results(const onnx::GraphProto& graph);
  /// Number of outputs and values whose declared rank differs from that of the nodes.
  int wrong_ranks() const { return wrong_ranks_; }

 private:
  Result<std::vector<Value*>> result(const std::string& name);

  GraphImporter& importer_;
  const onnx::ModelProto& model_;
  const ImportOptions& options_;
  Location file_;
  Diagnostics& diag;
  int wrong_ranks_ = 0;
};

}  // namespace relaxc::frontend
