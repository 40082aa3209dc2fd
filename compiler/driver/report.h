// report.h: diagnostics on their way out of the program.
#pragma once

#include "compiler/driver/options.h"
#include "compiler/support/diagnostics.h"

namespace relaxc::driver {

/// Prints all messages to stderr, in colour on a terminal; with `--check=json` as one JSON document to stdout.
void print_diagnostics(const Diagnostics& diagnostics, const Options& options);

/// The exit code that the messages ask for.
int exit_code(const Diagnostics& diagnostics, const Options& options);

}  // namespace relaxc::driver
