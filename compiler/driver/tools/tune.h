// tune.h: `relaxc tune`.
#pragma once

#include "compiler/api/input/tensor_files.h"
#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Measures what schedules of the model's kernels leave open on this host, with the given inputs, and writes a record
/// of what is faster (schedule_file.h) to options.tool.record. Gives the exit code.
int tune(const Options& options, const Tensors& inputs);

}  // namespace relaxc::driver
