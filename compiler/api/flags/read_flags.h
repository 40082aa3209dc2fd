// read_flags.h: the flags of a compilation, for who has no command line.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"

namespace relaxc::api {

/// Reads flags as the command line has them, each with its value in one text ("--dim=n=1", "-O2"), and no input. Gives
/// why one cannot be read; empty: all were.
std::string read_flags(std::vector<std::string> arguments, CompileOptions& options);

}  // namespace relaxc::api
