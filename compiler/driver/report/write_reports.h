// write_reports.h: what is told of a compiled program besides the program.
#pragma once

#include "compiler/api/compile.h"
#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Holds the written object against its budgets, and writes the report and the manifest, as far as they are wanted.
Status write_reports(const Options& options, const Artifact& artifact, Outputs& outputs, Diagnostics& diag);

/// `relaxc inspect --explain`: prints how kernels are scheduled, and why. Fails (usage) if the one that was asked for
/// is none.
Status print_explanations(const Options& options, const Artifact& artifact, Diagnostics& diag);
/// `relaxc inspect`: prints interface, memory and kernels.
void print_contents(const Options& options, const Artifact& artifact);

}  // namespace relaxc::driver
