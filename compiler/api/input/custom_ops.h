// custom_ops.h: reads --custom-op, from the command line or a file.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/support/result.h"
#include "frontends/onnx/custom_op.h"

namespace relaxc::api {

/// Parses each text of `custom_ops`: `domain::Name=rule`, or the path of a JSON file, an object whose keys are
/// `domain::Name` and whose values are rules, or objects with "rule" and optionally "function", the C name. `files`
/// receives the files that were read. Fails (usage) on texts of another form, on invalid rules, and on operators that
/// are declared twice.
Result<std::vector<frontend::CustomOp>> read_custom_ops(const CompileOptions& options, Diagnostics& diag,
                                                        std::vector<relax::FileRef>& files);

}  // namespace relaxc::api
