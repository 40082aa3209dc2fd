// import.h: from a .tflite file to a module.
//
// The first subgraph becomes one Relax function: its inputs are parameters, buffers are constants that refer to the
// file, and each operator is converted by its row (operators.h). Integers are computed as TFLite's reference kernels
// compute them, so that results are theirs to the bit; floats are computed by the operators that ONNX models use.
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
  std::string function = "main";  ///< what the model is called in the module
  /// Operators that the user declares, of domain "tflite".
  std::vector<frontend::CustomOp> custom_ops;
  /// Most operators that the model may come to, those of subgraphs counted as often as they are called.
  int64_t max_nodes = 200'000;
  /// The model, if it is not read from its path.
  relax::MemoryFiles memory;
  /// Receives what is found out beside errors; null: not wanted.
  frontend::Findings* findings = nullptr;
};

/// Whether `path` is a .tflite file: by its extension or, for a file that can be read, its identifier.
bool is_tflite_file(const std::string& path, const relax::MemoryFiles& memory);

/// Reads the model at `path`. All operators that cannot be converted are reported, not only the first. `files`, if
/// given, receives the file.
Result<relax::Module> import_tflite(const std::string& path, const ImportOptions& options, const relax::OpTable& table,
                                    Diagnostics& diag, std::vector<relax::FileRef>* files = nullptr);

/// The same into a module that holds other models.
Status import_tflite_into(relax::Module& module, const std::string& path, const ImportOptions& options,
                          const relax::OpTable& table, Diagnostics& diag, std::vector<relax::FileRef>* files = nullptr);

}  // namespace relaxc::tflite
