// compile.h: from the command line to files.
#pragma once

#include <functional>

#include "compiler/driver/options.h"
#include "compiler/relax/module.h"

namespace relaxc::driver {

/// Changes a module between reading and compiling.
using ModuleEdit = std::function<void(relax::Module&)>;

struct Compiled;
/// Looks at what was compiled before it is written.
using Look = std::function<void(const Compiled&)>;

/// Compiles what the options name, prints diagnostics to stderr, and gives the exit code: 0 done, 1 the input is at
/// fault, 2 usage. With the tool kInspect it writes nothing and prints what would be compiled.
int compile(const Options& options, const ModuleEdit& edit = {}, const Look& look = {});

}  // namespace relaxc::driver
