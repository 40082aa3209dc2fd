// run_pipeline.h: runs the passes as the options say, and observes them.
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

/// Numeric options of passes by name: "fold_constants.budget".
using PassNumbers = std::map<std::string, int64_t, std::less<>>;

/// Returns the values of --pass-option. Fails (usage) if a flag names a pass or an option that does not exist.
Result<PassNumbers> check_pass_flags(const CompileOptions& options, Diagnostics& diag);

/// Observations during the passes, for reports.
struct Observations {
  GraphView before, after;  ///< as read; and as calls of kernels
  UnplannedBodies unplanned;
  std::vector<std::pair<std::string, double>> pass_milliseconds;
  /// For each kernel by name, the strategies that were considered for its schedule, and their answers.
  std::map<std::string, std::string> explanations;
  ScheduleFile schedules;  ///< of all kernels that strategies or steps changed
  std::vector<proof::ScheduledKernel> scheduled_kernels;
  /// Kernels as they are defined, before they are scheduled and before functions such as exp become polynomials.
  std::map<std::string, tir::PrimFunc> definitions;
};

/// Receives dims whose bounds would help, as soon as memory is planned.
using TellBounds = std::function<void(const std::vector<lower::SuggestedBounds>&)>;

/// Receives the current step, such as "after fuse_ops".
using TellProgress = std::function<void(std::string_view)>;

/// Runs the passes on `module` and fills `object`; `observed` may be null. Reports errors of passes, and with
/// --verify-semantics the first pass that changes the program's results. Both functions may be empty.
Status run_pipeline(const CompileOptions& options, const PassNumbers& numbers, const relax::OpTable& ops,
                    const Target& target, relax::Module& module, interface::Object& object, Observations* observed,
                    const TellBounds& tell_bounds, const TellProgress& progress, Diagnostics& diag);

}  // namespace relaxc::api
