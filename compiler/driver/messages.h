// messages.h: prints diagnostics and derives the exit code.
#pragma once

#include <functional>

#include "compiler/driver/options.h"
#include "compiler/driver/report/summary.h"
#include "compiler/support/diagnostics.h"

namespace relaxc::driver {

/// Prints all messages to stderr, in colour on a terminal; with `--check` also other findings to stdout, and with
/// `--check=json` everything to stdout as one JSON document. `findings` are an import's findings besides errors.
void print_diagnostics(const Diagnostics& diagnostics, const Options& options, const std::vector<StateProposal>& states,
                       const frontend::Findings& findings = {});

/// Returns the exit code for the messages.
int exit_code(const Diagnostics& diagnostics, const Options& options);

/// The exit code for an internal error.
constexpr int kInternalError = 70;

/// Runs `program` and returns its exit code. An exception that reaches this function is reported as an internal error,
/// with kInternalError; lack of memory is reported as an error of its own, with 1.
int run_guarded(const std::function<int()>& program);

}  // namespace relaxc::driver
