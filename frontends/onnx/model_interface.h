// model_interface.h: the inputs and outputs that a model declares.
#pragma once

#include <string>
#include <vector>

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

class ModelInterface {
 public:
  /// `file`: where what is wrong with the model as a whole is.
  ModelInterface(GraphImporter& importer, const onnx::ModelProto& model, const ImportOptions& options, Location file)
      : importer_(importer), model_(model), options_(options), file_(file), diag(importer.diagnostics()) {}

  /// Gives the function its parameters, and the graph's inputs their values.
  Status define_parameters(const onnx::GraphProto& graph, Parameters& parameters);
  /// Compares what the model says of a value with what was deduced.
  void check_declared(const onnx::ValueInfoProto& declared, bool output);
  /// Gives the function its results and their names.
  Status add_results(const onnx::GraphProto& graph);
  /// Outputs and values whose declared rank is not what the nodes give.
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
