// run_pipeline.h: the passes, as the command line wants them run and looked at.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/options.h"
#include "compiler/driver/progress.h"
#include "compiler/driver/report/graph_view.h"
#include "compiler/driver/report/profile.h"
#include "compiler/driver/tools/schedule_file.h"
#include "compiler/pipeline/pipelines.h"
#include "compiler/transform/lower/helpful_bounds.h"

namespace relaxc::driver {

/// Numbers of passes by their names, "fold_constants.budget".
using PassNumbers = std::map<std::string, int64_t, std::less<>>;

/// The numbers of --pass-option. Fails (usage) if a flag names a pass or an option that there is not.
Result<PassNumbers> check_pass_flags(const Options& options, Diagnostics& diag);

/// What only the way through the passes shows, for reports.
struct Observations {
  GraphView before, after;  ///< as it was read; as its kernels are called
  UnplannedBodies unplanned;
  std::vector<std::pair<std::string, double>> pass_milliseconds;
  ScheduleFile schedules;  ///< of all kernels that rules or steps have changed
};

/// A note on dims that the user could bound, as soon as memory is planned.
using TellBounds = std::function<void(const std::vector<lower::HelpfulBounds>&)>;

/// Runs the passes on `module` and fills `object`; `observed` may be null. Reports what the passes report, and with
/// --verify-semantics the first pass that changes what the program gives. `tell_bounds` may be empty.
Status run_pipeline(const Options& options, const PassNumbers& numbers, const relax::OpTable& ops, const Target& target,
                    relax::Module& module, interface::Object& object, Observations* observed,
                    const TellBounds& tell_bounds, Progress& progress, Diagnostics& diag);

}  // namespace relaxc::driver
