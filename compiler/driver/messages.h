// messages.h: diagnostics on their way out of the program.
#pragma once

#include <functional>

#include "compiler/driver/options.h"
#include "compiler/driver/report/summary.h"
#include "compiler/support/diagnostics.h"

namespace relaxc::driver {

/// Prints all messages to stderr, in colour on a terminal; with `--check` also what was found otherwise to stdout, and
/// with `--check=json` everything to stdout as one JSON document. `findings`: what an import found out beside errors.
void print_diagnostics(const Diagnostics& diagnostics, const Options& options, const std::vector<StateProposal>& states,
                       const frontend::Findings& findings = {});

/// The exit code that the messages ask for.
int exit_code(const Diagnostics& diagnostics, const Options& options);

/// The exit code for a fault of relaxc itself.
constexpr int kInternalError = 70;

/// Runs `program` and gives its exit code. An exception that gets here is a bug of relaxc: it is reported as an
/// internal error, with kInternalError. Memory that ran out is no bug (1).
int run_guarded(const std::function<int()>& program);

}  // namespace relaxc::driver
