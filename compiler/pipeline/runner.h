// runner.h: runs a list of passes, with options to show, time, check and leave out passes.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/transform/pass.h"

namespace relaxc {

struct PassOptions {
  /// Pass names, or "all": every pass of the list. A clean-up that is named is shown after other passes, too.
  std::vector<std::string> print_before, print_after;
  /// Passes that run neither in their place nor as clean-ups. One that cleans up at every level must not be among them.
  std::vector<std::string> disabled;
  std::string stop_after;
  bool time_passes = false;
  bool statistics = false;  ///< show how many ops, kernels and statements each pass leaves
  std::string dump_folder;  ///< if not empty, gets the module in numbered files: as it was read and after each change
  /// If not negative, only the first of the optional passes run, this number of them, and a line for each says whether
  /// it did.
  int64_t bisect_limit = -1;
  bool verify = true;  ///< verify the module after every pass that changed it
  /// If set, called after every pass that changed the module; a text that it returns is reported as an internal error
  /// of the pass.
  std::function<std::string(relax::Module& module)> check;
  /// If set, called with the name of every pass of the list that runs, before it; here the caller says how kernels are
  /// to be scheduled.
  std::function<Status(std::string_view pass, relax::Module& module, PassContext& context)> prepare;
  /// If set, called with "input" before the first pass, and after every pass and clean-up that ran with its name and
  /// its own processor time.
  std::function<void(std::string_view pass, const relax::Module& module, double milliseconds)> observe;
  /// Receives the text of printing, timing and bisection. Must be set if any of them is requested.
  std::function<void(const std::string& text)> show;
};

/// Whether the pipeline can do without the pass: it optimizes, and no pass of `passes` needs what it gives.
bool is_optional(const Pass& pass, std::span<const Pass> passes);

/// Runs `passes` in order, and after each that changed something its clean-ups. Reports a usage error if a pass needs a
/// property that no pass before it gave (because one was disabled). A module that does not verify after a pass is an
/// internal error that names the pass.
Status run_passes(std::span<const Pass> passes, relax::Module& module, PassContext& context,
                  const PassOptions& options);

}  // namespace relaxc
