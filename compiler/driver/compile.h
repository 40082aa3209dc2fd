// compile.h: from the command line to files and an exit code.
#pragma once

#include "compiler/api/compile.h"
#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Compiles what the options name, prints diagnostics to stderr, and gives the exit code: 0 done, 1 the input is at
/// fault, 2 usage. With the tool kInspect it writes nothing and prints what would be compiled. `edit` changes the
/// module that was read; `look` sees what was compiled before it is written.
int compile(const Options& options, const ModuleEdit& edit = {}, const Look& look = {});

}  // namespace relaxc::driver
