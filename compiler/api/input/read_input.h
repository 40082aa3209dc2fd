// read_input.h: from the named file to a module, with what the command line says of its dims and states.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/relax/op_def.h"

namespace relaxc::api {

/// Reads the ONNX model (by its extension .onnx) or text program that the options name, and applies --dim and --state.
/// `files` receives every file that was read, the input first; `findings` what an import says beside its errors.
/// Fails (usage) on a dim that the program does not have, and on flags that contradict each other; on all that the
/// frontends refuse.
Result<relax::Module> read_input(const CompileOptions& options, const relax::OpTable& ops, Diagnostics& diag,
                                 std::vector<relax::FileRef>& files, frontend::Findings& findings);

}  // namespace relaxc::api
