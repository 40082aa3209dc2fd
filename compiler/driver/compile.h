// compile.h: compiles what the command line says, and returns an exit code.
#pragma once

#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Compiles what the options name, prints diagnostics to stderr, and returns the exit code: 0 success, 1 the input is
/// at fault, 2 usage. With the tool kInspect it writes nothing and prints what would be compiled.
int compile(const Options& options);

}  // namespace relaxc::driver
