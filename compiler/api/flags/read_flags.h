// read_flags.h: parses the flags of a compilation for callers without a command line.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"

namespace relaxc::api {

/// Parses flags in the syntax of the command line, each with its value in one text ("--dim=n=1", "-O2"), without an
/// input. Returns the error message for an invalid flag; empty if all are valid.
std::string read_flags(std::vector<std::string> arguments, CompileOptions& options);

}  // namespace relaxc::api
