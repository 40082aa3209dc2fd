// kernel_table.h: the time of each kernel next to what it had to do.
#pragma once

#include "compiler/api/observe/profile.h"
#include "compiler/driver/tools/session.h"

namespace relaxc::driver {

/// One line a kernel, the slowest first: its share of a run, microseconds and calls a run, arithmetic and traffic a
/// second, how near that is to the limit of the target with `cores` cores of this speed, its name and what it computes.
/// `kernels`: what each has to do; a kernel that is not listed there has no figures.
std::string kernel_table(const Timing& timing, const std::vector<KernelCost>& kernels, const Target& target,
                         const CoreSpeed& speed, int32_t cores);

}  // namespace relaxc::driver
