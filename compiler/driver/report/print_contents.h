// print_contents.h: the output of `inspect`.
#pragma once

#include "compiler/api/compile.h"
#include "compiler/driver/options.h"

namespace relaxc::driver {

/// `relaxc inspect`: prints the interface, memory and kernels of an observed artifact.
void print_contents(const Options& options, const Artifact& artifact);
/// `relaxc inspect --explain`: prints how kernels are scheduled, and why. Fails (usage) if there is no kernel of the
/// requested name.
Status print_explanations(const Options& options, const Artifact& artifact, Diagnostics& diag);
}  // namespace relaxc::driver
