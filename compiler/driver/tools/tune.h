// tune.h: `relaxc tune`.
#pragma once

#include "compiler/api/input/tensor_files.h"
#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Measures the alternatives in the schedules of the model's kernels on this host, with the given inputs, and writes
/// the faster ones (schedule_file.h) to options.tool.record. Returns the exit code.
int tune(const Options& options, const Tensors& inputs);

}  // namespace relaxc::driver
