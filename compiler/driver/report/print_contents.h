// print_contents.h: what `inspect` prints.
#pragma once

#include "compiler/api/compile.h"
#include "compiler/driver/options.h"

namespace relaxc::driver {

/// `relaxc inspect`: prints interface, memory and kernels of what was observed.
void print_contents(const Options& options, const Artifact& artifact);
/// `relaxc inspect --explain`: prints how kernels are scheduled, and why. Fails (usage) if the one that was asked for
/// is none.
Status print_explanations(const Options& options, const Artifact& artifact, Diagnostics& diag);
}  // namespace relaxc::driver
