// schedule_file.h: reads and writes schedules of kernels as a file that users can edit.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/relax/module.h"
#include "compiler/transform/pass.h"

namespace relaxc::api {

/// The schedule of one kernel: by steps (schedule/trace/trace.h), or by strategies with given choices
/// (schedule/strategies/parts/knobs.h).
struct KernelSchedule {
  std::string name;     ///< in the model for which it was written
  std::string key;      ///< kernel_key; empty: applies to any kernel of that name
  std::string comment;  ///< for readers
  std::string steps;    ///< lines; used when the file is written
  std::string choices;  ///< if not empty, there are no steps
  TextSpan at;          ///< of the name, in the file that was read
  TextSpan steps_at;    ///< of the steps, in the file that was read
};

struct ScheduleFile {
  std::string target;  ///< target_text; empty: any target
  std::vector<KernelSchedule> kernels;
};

/// Returns the parts of a target on which measurements depend.
std::string target_text(const Target& target);

/// Returns a hash of a kernel's text before it is scheduled, which does not depend on its name.
std::string kernel_key(const tir::PrimFunc& kernel);

std::string schedule_file_text(const ScheduleFile& file);
/// Fails (io, syntax, redefinition) if the file cannot be read or is invalid.
/// \param sources  owns the text, to which steps and messages point
Result<ScheduleFile> read_schedule_file(const std::string& path, Sources& sources, Diagnostics& diag);
/// The same for a text in memory, with `path` in messages.
Result<ScheduleFile> parse_schedules(std::string path, std::string text, Sources& sources, Diagnostics& diag);

/// Applies the schedules of `file`, which the options name, to the kernels of the module, through the pass that
/// schedules them. Fails (unbound_name) if a name without a key is not that of a kernel.
Status assign_schedules(const ScheduleFile& file, const CompileOptions& options, relax::Module& module,
                        PassContext& context);

}  // namespace relaxc::api
