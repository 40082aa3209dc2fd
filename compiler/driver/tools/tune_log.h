// tune_log.h: what a tuner measured, as a file that later compilations read.
#pragma once

#include <map>
#include <string>

#include "compiler/relax/module.h"
#include "compiler/support/result.h"
#include "targets/target.h"

namespace relaxc::driver {

/// What is known of one kernel.
struct TunedKernel {
  std::string name;                            ///< in the model in which it was measured
  std::string choices;                         ///< schedule::Choices, only those that are not the usual ones
  std::string schedule;                        ///< what came of them, for people
  double usual_seconds = 0, best_seconds = 0;  ///< of one run's calls, for people
};

struct TuneLog {
  std::string target;                          ///< target_text
  std::map<std::string, TunedKernel> kernels;  ///< by kernel_key
};

/// All of a target that a measurement depends on.
std::string target_text(const Target& target);

/// What a kernel computes, whatever it is called: a hash of its text before it is scheduled.
std::string kernel_key(const tir::PrimFunc& kernel);

std::string tune_log_json(const TuneLog& log);
/// Fails (io, malformed_model) if the file cannot be read or is no such record.
Result<TuneLog> read_tune_log(const std::string& path, Diagnostics& diag);

/// Gives kernels that `log` knows the attribute `choices`.
void hand_out(const TuneLog& log, relax::Module& module);

}  // namespace relaxc::driver
