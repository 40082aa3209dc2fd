// tune_machine.h: `relaxc tune --machine`.
#pragma once

#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Measures the numbers of the machine model on this machine that can be measured, in some seconds, and writes a
/// description of it to options.tool.record, which --target takes. Gives the exit code.
int tune_machine(const Options& options);

}  // namespace relaxc::driver
