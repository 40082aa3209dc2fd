// schedule_file.h: how kernels are scheduled, as a file that compilations write and read, and people between them.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/relax/module.h"
#include "compiler/transform/pass.h"

namespace relaxc::api {

/// How one kernel is scheduled: by steps (schedule/trace/trace.h), or by strategies with some choices
/// (schedule/strategies/parts/knobs.h).
struct KernelSchedule {
  std::string name;     ///< in the model that it was written for
  std::string key;      ///< kernel_key; empty: whatever kernel has the name
  std::string comment;  ///< for people
  std::string steps;    ///< lines, where it is to be written
  std::string choices;  ///< not empty: no steps
  TextSpan at;          ///< of the name, where it was read
  TextSpan steps_at;    ///< of the steps, where they were read
};

struct ScheduleFile {
  std::string target;  ///< target_text; empty: any
  std::vector<KernelSchedule> kernels;
};

/// All of a target that a measurement depends on.
std::string target_text(const Target& target);

/// What a kernel computes, whatever it is called: a hash of its text before it is scheduled.
std::string kernel_key(const tir::PrimFunc& kernel);

std::string schedule_file_text(const ScheduleFile& file);
/// \param sources  keeps the text, which steps and messages point to
/// Fails (io, syntax, redefinition) if the file cannot be read or is no such file.
Result<ScheduleFile> read_schedule_file(const std::string& path, Sources& sources, Diagnostics& diag);

/// Tells the pass that schedules kernels what `file`, that of the options, says of those of the module. Fails
/// (unbound_name) where a name without a key is not a kernel's.
Status assign_schedules(const ScheduleFile& file, const CompileOptions& options, relax::Module& module,
                        PassContext& context);

}  // namespace relaxc::api
