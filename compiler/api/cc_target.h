// cc_target.h: the machine that a C compiler compiles for.
#pragma once

#include <string>

#include "compiler/support/result.h"
#include "targets/machine.h"

namespace relaxc::api {

/// Asks `command`, a C compiler with the flags that a project gives it ("arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb"),
/// by its predefined macros. Works for GCC and clang. Fails (usage) if it cannot be run or is for an architecture that
/// has no objects here.
Result<Machine> machine_of_compiler(const std::string& command, Diagnostics& diag);

/// The same of an answer: `macros` as `-dM -E` prints them, `triple` as `-dumpmachine` does; `command` gives -mcpu.
Result<Machine> machine_of_macros(const std::string& command, const std::string& triple, const std::string& macros,
                                  Diagnostics& diag);

}  // namespace relaxc::api
