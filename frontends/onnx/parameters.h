// parameters.h: makes the parameters of the function of a model, and the symbols of their open dims.
//
// Dims that the model leaves open become symbols, one for each name, unless the command line fixes them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontends/onnx/converter.h"
#include "frontends/onnx/import.h"

namespace relaxc::frontend {

class Parameters {
 public:
  /// \param builder  receives the checks of inputs, before their first use
  Parameters(const ImportOptions& options, relax::Function& function, relax::GraphBuilder& builder,
             arith::Context& context, Location file, Diagnostics& diag)
      : options_(options), function_(function), builder_(builder), context_(context), file_(file), diag(diag) {}

  /// Adds the tensors that a caller passes for one input (see composite.h for inputs that are not tensors).
  Result<NamedValue> add(const onnx::TypeProto& type, const std::string& name);
  /// Fails, with a report, if the options have a dim that no input has.
  Status unused_overrides();

 private:
  Expr symbol(const std::string& name);
  Result<Expr> dim(const onnx::TensorShapeProto::Dimension& dim, const std::string& name, int axis);
  Result<std::vector<Expr>> declared_dims(const onnx::TypeProto::Tensor& type, const std::string& name);
  Result<relax::Info> declared(const onnx::TypeProto::Tensor& type, const std::string& name);
  Value* argument(const std::string& name, relax::Info info);
  Result<NamedValue> strings(const onnx::TypeProto& type, const std::string& name);
  Result<NamedValue> map(const onnx::TypeProto::Map& type, const std::string& name);
  Result<NamedValue> sequence(const onnx::TypeProto& element, const std::string& name);

  const ImportOptions& options_;
  relax::Function& function_;
  relax::GraphBuilder& builder_;
  arith::Context& context_;
  const Location file_;
  Diagnostics& diag;
  std::map<std::string, Expr> symbols_;  ///< by the dims' names
};

}  // namespace relaxc::frontend
