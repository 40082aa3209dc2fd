// read_input.h: reads the input file to a module, and applies the flags about its dims and states.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/relax/op_def.h"

namespace relaxc::api {

/// Reads the ONNX model (by its extension .onnx) or text program that the options name, and applies --dim and --state.
/// `files` receives every file that was read, the input first; `findings` receives the import's findings besides its
/// errors. Fails (usage) on a dim that the program does not have and on contradicting flags, and on everything that the
/// frontends refuse.
Result<relax::Module> read_input(const CompileOptions& options, const relax::OpTable& ops, Diagnostics& diag,
                                 std::vector<relax::FileRef>& files, frontend::Findings& findings);

}  // namespace relaxc::api
