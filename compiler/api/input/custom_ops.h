// custom_ops.h: --custom-op, on the command line or in a file.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/support/result.h"
#include "frontends/onnx/custom_op.h"

namespace relaxc::api {

/// Each text of `custom_ops` is `domain::Name=rule` or the path of a JSON file: an object whose keys are `domain::Name`
/// and whose values are rules, or objects with "rule" and, if wanted, "function", the name in C. `files` receives the
/// files that were read. Fails (usage) on what is neither, on a rule that cannot be read, and on an operator declared
/// twice.
Result<std::vector<frontend::CustomOp>> read_custom_ops(const CompileOptions& options, Diagnostics& diag,
                                                        std::vector<relax::FileRef>& files);

}  // namespace relaxc::api
