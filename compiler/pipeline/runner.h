// runner.h: runs a list of passes, with everything one wants to see or switch about them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/transform/pass.h"

namespace relaxc {

struct PassOptions {
  /// Pass names, or "all": every pass of the list. A clean-up that is named is shown behind other passes, too.
  std::vector<std::string> print_before, print_after;
  /// Passes that run neither in their place nor as clean-ups. One that cleans up at every level cannot be among them.
  std::vector<std::string> disabled;
  std::string stop_after;
  bool time_passes = false;
  bool statistics = false;  ///< show how many ops, kernels and statements each pass leaves
  std::string dump_folder;  ///< not empty: the module as one numbered file a pass, as it was read and after each change
  /// Only this number of optional passes run, the first ones, and a line says of each whether it did; below 0: no
  /// limit.
  int64_t bisect_limit = -1;
  bool verify = true;  ///< the module, after every pass that changed it
  /// Called after every pass that changed the module; text that is not empty is an internal error of the pass. Null:
  /// nothing is asked.
  std::function<std::string(relax::Module& module)> check;
  /// Called with the name of every pass of the list that runs, before it: how kernels are to be scheduled is said here.
  /// Null: nothing is.
  std::function<Status(std::string_view pass, relax::Module& module, PassContext& context)> prepare;
  /// Called with "input" before the first pass, and with the name of every pass and clean-up that ran, after it, and
  /// the time of that alone. Null: not wanted.
  std::function<void(std::string_view pass, const relax::Module& module, double milliseconds)> observe;
  /// Receives what printing, timing and bisection produce. Must be set if any of them is asked for.
  std::function<void(const std::string& text)> show;
};

/// Whether the pipeline can do without the pass: it optimizes, and `passes` need nothing that it alone gives.
bool is_optional(const Pass& pass, std::span<const Pass> passes);

/// Runs `passes` in order, and behind each that changed something its clean-ups. A pass that needs a property that no
/// pass before it gave (because one was disabled) is a usage error. A module that does not verify after a pass is an
/// internal error that names the pass.
Status run_passes(std::span<const Pass> passes, relax::Module& module, PassContext& context,
                  const PassOptions& options);

}  // namespace relaxc
