// tune_machine.h: `relaxc tune --machine`.
#pragma once

#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Measures the numbers of the machine model that can be measured on this machine, in some seconds, and writes a
/// description for --target to options.tool.record. Returns the exit code.
int tune_machine(const Options& options);

}  // namespace relaxc::driver
