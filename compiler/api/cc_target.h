// cc_target.h: derives the target machine from a C compiler.
#pragma once

#include <string>

#include "compiler/support/result.h"
#include "targets/machine.h"

namespace relaxc::api {

/// Returns the machine for which `command` compiles: a C compiler (GCC or clang) with a project's flags, such as
/// "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb". Reads its predefined macros. Fails (usage) if it cannot be run, or is
/// for an architecture that relaxc does not support.
Result<Machine> machine_of_compiler(const std::string& command, Diagnostics& diag);

/// The same from its output: `macros` of `-dM -E`, `triple` of `-dumpmachine`; -mcpu is read from `command`.
Result<Machine> machine_of_macros(const std::string& command, const std::string& triple, const std::string& macros,
                                  Diagnostics& diag);

}  // namespace relaxc::api
