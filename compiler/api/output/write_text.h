// write_text.h: writes a module as text.
#pragma once

#include "compiler/api/compile_options.h"
#include "compiler/api/output/outputs.h"
#include "compiler/api/output/plan.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/relax/module.h"

namespace relaxc::api {

/// Writes the module in the text IR, with its large constants in a file beside it, or as a graph, and the dependency
/// file. `files` are the inputs. Fails (usage) if the constants would replace the file from which they were read.
Status write_text(const CompileOptions& options, const OutputPlan& plan, const relax::Module& module,
                  const std::vector<relax::FileRef>& files, Outputs& outputs, Diagnostics& diag);

}  // namespace relaxc::api
