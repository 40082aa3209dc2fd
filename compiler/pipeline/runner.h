// runner.h: runs a list of passes, with everything one wants to see or switch about them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/transform/pass.h"

namespace relaxc {

struct PassOptions {
  std::vector<std::string> print_before, print_after;  ///< pass names, or "all"
  std::vector<std::string> disabled;
  std::string stop_after;
  bool time_passes = false;
  bool verify = true;  ///< the module, after every pass that changed it
  /// Receives what printing and timing produce. Must be set if any of them is asked for.
  std::function<void(const std::string& text)> show;
};

/// Runs `passes` in order. A pass that needs a property that no pass before it gave (because one was disabled) is a
/// usage error. A module that does not verify after a pass is an internal error that names the pass.
Status run_passes(std::span<const Pass> passes, relax::Module& module, PassContext& context,
                  const PassOptions& options);

}  // namespace relaxc
