// import.h: imports a .tflite file into a module.
//
// The first subgraph becomes one Relax function: its inputs are parameters, buffers are constants that refer to the
// file, and each operator is converted by its row (operators.h). Integer results equal those of TFLite's reference
// kernels bit for bit; floats are computed by the same operators as in ONNX models.
#pragma once

#include <string>
#include <vector>

#include "compiler/relax/mapped_file.h"
#include "compiler/relax/module.h"
#include "compiler/relax/op_def.h"
#include "frontends/onnx/custom_op.h"
#include "frontends/onnx/findings.h"

namespace relaxc::tflite {

struct ImportOptions {
  std::string function = "main";  ///< name of the function in the module
  /// Operators that the user declares with --custom-op, of the domain "tflite".
  std::vector<frontend::CustomOp> custom_ops;
  /// Maximum number of operators; those of a subgraph count each time it is called.
  int64_t max_nodes = 200'000;
  /// Files in memory, of which one may be the model; a path that is not among them is read from disk.
  relax::MemoryFiles memory;
  /// Receives what --check reports besides errors; may be null.
  frontend::Findings* findings = nullptr;
};

/// Returns whether `path` has the extension .tflite or, if it can be read, the file identifier TFL3.
bool is_tflite_file(const std::string& path, const relax::MemoryFiles& memory);

/// Reads the model at `path`. Reports every operator that cannot be converted, not only the first. `files`, if not
/// null, receives the open file.
Result<relax::Module> import_tflite(const std::string& path, const ImportOptions& options, const relax::OpTable& table,
                                    Diagnostics& diag, std::vector<relax::FileRef>* files = nullptr);

/// Same, but adds the function to a module that may hold other models.
Status import_tflite_into(relax::Module& module, const std::string& path, const ImportOptions& options,
                          const relax::OpTable& table, Diagnostics& diag, std::vector<relax::FileRef>* files = nullptr);

}  // namespace relaxc::tflite
