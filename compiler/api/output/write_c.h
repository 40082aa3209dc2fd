// write_c.h: a compiled program as C.
#pragma once

#include "compiler/api/compile_options.h"
#include "compiler/api/output/outputs.h"
#include "compiler/api/output/plan.h"
#include "compiler/interface/object.h"
#include "targets/target.h"

namespace relaxc::api {

/// Writes the object as C to `path`, and what Options::c_style puts into files of their own beside the output; their
/// places are added to `targets`. A style that says nothing of vectors gets those that C compilers of the machine
/// compute right. Reports what the style cannot write, and what cannot be written to.
Status write_c(const CompileOptions& options, const OutputPlan& plan, const interface::Object& object,
               const Target& target, const std::string& path, std::vector<std::string>& targets, Outputs& outputs,
               Diagnostics& diag);

}  // namespace relaxc::api
