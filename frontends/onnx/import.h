// import.h: from an ONNX model to a module.
//
// The graph becomes one Relax function named "main": inputs without an initializer are its parameters, initializers are
// constants that refer to the file, and each node is converted by the row of its operator (converter.h). What a model
// computes with shapes (Shape, Gather, Concat, Reshape) becomes shape expressions while importing, so that a dynamic
// model keeps symbols and not run-time shape tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/relax/mapped_file.h"
#include "compiler/relax/op_def.h"
#include "frontends/onnx/custom_op.h"
#include "frontends/onnx/findings.h"

namespace relaxc::frontend {

/// `--dim name=4`, `--dim name=1..512`, `--dim name=1..512:64`: what the user says of a dim that the model leaves open.
/// An unnamed dim is called by its input and axis: "image_d0". `lower` == `upper` fixes it.
struct DimOverride {
  std::string name;
  int64_t lower = 0;
  int64_t upper = INT64_MAX;
  int64_t multiple_of = 1;
};

struct ImportOptions {
  std::string function = "main";  ///< what the model's graph is called in the module
  std::vector<DimOverride> dims;
  /// Operators that the user declares; they take precedence over ours.
  std::vector<CustomOp> custom_ops;
  /// External data may be outside of the model's folder.
  bool allow_external_outside = false;
  /// A model with external data is refused.
  bool refuse_external_data = false;
  /// Inputs that also have an initializer (a default): false makes them constants, true parameters.
  bool keep_initializers_as_inputs = false;
  /// Most nodes that the model may come to when calls of its functions, and bodies that are written out more than once,
  /// are counted as often as they occur.
  int64_t max_nodes = 200'000;
  /// The model, or external data, that is not read from its path.
  relax::MemoryFiles memory;
  /// Receives what is found out beside errors; null: not wanted.
  Findings* findings = nullptr;
};

/// Reads the model at `path` and what it refers to. All reasons why it cannot be converted are reported, not only the
/// first: a node whose operands could not be made is passed over in silence. `files`, if given, receives every file
/// that was read, the model first.
Result<relax::Module> import_onnx(const std::string& path, const ImportOptions& options, const relax::OpTable& table,
                                  Diagnostics& diag, std::vector<relax::FileRef>* files = nullptr);

/// The same into a module that holds other models: constants and kernels that are equal are shared by later passes.
Status import_onnx_into(relax::Module& module, const std::string& path, const ImportOptions& options,
                        const relax::OpTable& table, Diagnostics& diag, std::vector<relax::FileRef>* files = nullptr);

}  // namespace relaxc::frontend
