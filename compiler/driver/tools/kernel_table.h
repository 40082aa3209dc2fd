// kernel_table.h: prints the time of each kernel beside its work.
#pragma once

#include "compiler/api/observe/profile.h"
#include "compiler/driver/tools/session.h"

namespace relaxc::driver {

/// Returns one line for each kernel, slowest first: its share of a run, microseconds and calls per run, operations and
/// bytes per second, the percentage of the limit of `cores` cores of the target at this speed, its name and what it
/// computes. `kernels` is the work of each; a kernel that is not in it has no such figures.
std::string kernel_table(const Timing& timing, const std::vector<KernelCost>& kernels, const Target& target,
                         const CoreSpeed& speed, int32_t cores);

}  // namespace relaxc::driver
