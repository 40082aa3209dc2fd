// import.h: imports an ONNX model into a module.
//
// The graph becomes a Relax function named "main": inputs without an initializer are its parameters, initializers are
// constants that refer to the file, and each node is converted by its operator's row (converter.h). Shape computations
// (Shape, Gather, Concat, Reshape) become shape expressions during import, so a dynamic model has symbols and not
// run-time shape tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/relax/mapped_file.h"
#include "compiler/relax/op_def.h"
#include "frontends/onnx/custom_op.h"
#include "frontends/onnx/findings.h"

namespace relaxc::frontend {

/// `--dim name=4`, `--dim name=1..512`, `--dim name=1..512:64`: the user's bounds of an open dim. An unnamed dim is
/// called by its input and axis: "image_d0". `lower` == `upper` fixes it.
struct DimOverride {
  std::string name;
  int64_t lower = 0;
  int64_t upper = INT64_MAX;
  int64_t multiple_of = 1;
};

struct ImportOptions {
  std::string function = "main";  ///< the name of the function
  std::vector<DimOverride> dims;
  /// Operators that the user declares; they have precedence over relaxc's.
  std::vector<CustomOp> custom_ops;
  /// Whether external data may be outside of the model's folder.
  bool allow_external_outside = false;
  /// Whether a model with external data is refused.
  bool refuse_external_data = false;
  /// Whether inputs that also have an initializer (a default) are parameters; otherwise they are constants.
  bool keep_initializers_as_inputs = false;
  /// Limit for the number of nodes, in which called functions and bodies that are expanded several times count as often
  /// as they occur.
  int64_t max_nodes = 200'000;
  /// The model, or external data, that is in memory instead of at its path.
  relax::MemoryFiles memory;
  /// Receives findings besides errors; null: not wanted.
  Findings* findings = nullptr;
};

/// Reads the model at `path` and the files that it refers to. Reports all reasons why it cannot be converted, not only
/// the first: a node whose operands failed is skipped silently. `files`, if not null, receives every file that was
/// read, the model first.
Result<relax::Module> import_onnx(const std::string& path, const ImportOptions& options, const relax::OpTable& table,
                                  Diagnostics& diag, std::vector<relax::FileRef>* files = nullptr);

/// The same into a module with other models; later passes share equal constants and kernels.
Status import_onnx_into(relax::Module& module, const std::string& path, const ImportOptions& options,
                        const relax::OpTable& table, Diagnostics& diag, std::vector<relax::FileRef>* files = nullptr);

}  // namespace relaxc::frontend
