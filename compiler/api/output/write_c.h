// write_c.h: writes a compiled program as C.
#pragma once

#include "compiler/api/compile_options.h"
#include "compiler/api/output/outputs.h"
#include "compiler/api/output/plan.h"
#include "compiler/interface/object.h"
#include "targets/target.h"

namespace relaxc::api {

/// Writes the object as C to `path`, and the further files of options.c_style beside the output; adds their paths to
/// `targets`. If the style does not decide about vectors, uses those that the machine's C compilers handle correctly.
/// Reports objects that the style does not allow, and files that cannot be written.
Status write_c(const CompileOptions& options, const OutputPlan& plan, const interface::Object& object,
               const Target& target, const std::string& path, std::vector<std::string>& targets, Outputs& outputs,
               Diagnostics& diag);

}  // namespace relaxc::api
