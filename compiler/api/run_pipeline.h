// run_pipeline.h: the passes, as options want them run and looked at.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/api/observe/graph_view.h"
#include "compiler/api/observe/profile.h"
#include "compiler/api/schedule_file.h"
#include "compiler/pipeline/pipelines.h"
#include "compiler/proof/kernels/check_kernel.h"
#include "compiler/transform/lower/suggested_bounds.h"

namespace relaxc::api {

/// Numbers of passes by their names, "fold_constants.budget".
using PassNumbers = std::map<std::string, int64_t, std::less<>>;

/// The numbers of --pass-option. Fails (usage) if a flag names a pass or an option that there is not.
Result<PassNumbers> check_pass_flags(const CompileOptions& options, Diagnostics& diag);

/// What only the way through the passes shows, for reports.
struct Observations {
  GraphView before, after;  ///< as it was read; as its kernels are called
  UnplannedBodies unplanned;
  std::vector<std::pair<std::string, double>> pass_milliseconds;
  /// Of each kernel by its name: which strategies were asked for its schedule, and what they answered.
  std::map<std::string, std::string> explanations;
  ScheduleFile schedules;  ///< of all kernels that strategies or steps have changed
  std::vector<proof::ScheduledKernel> scheduled_kernels;
  /// Kernels as they are defined, before they are scheduled and before functions such as exp become polynomials.
  std::map<std::string, tir::PrimFunc> definitions;
};

/// A note on dims that the user could bound, as soon as memory is planned.
using TellBounds = std::function<void(const std::vector<lower::SuggestedBounds>&)>;

/// Is called with the current step, "after fuse_ops", when it changes.
using TellProgress = std::function<void(std::string_view)>;

/// Runs the passes on `module` and fills `object`; `observed` may be null. Reports what the passes report, and with
/// --verify-semantics the first pass that changes what the program gives. Both functions may be empty.
Status run_pipeline(const CompileOptions& options, const PassNumbers& numbers, const relax::OpTable& ops,
                    const Target& target, relax::Module& module, interface::Object& object, Observations* observed,
                    const TellBounds& tell_bounds, const TellProgress& progress, Diagnostics& diag);

}  // namespace relaxc::api
