// compile.h: from the command line to files and an exit code.
#pragma once

#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Compiles what the options name, prints diagnostics to stderr, and gives the exit code: 0 done, 1 the input is at
/// fault, 2 usage. With the tool kInspect it writes nothing and prints what would be compiled.
int compile(const Options& options);

}  // namespace relaxc::driver
