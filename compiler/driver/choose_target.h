// choose_target.h: the machine that the flags mean.
#pragma once

#include "compiler/codegen/llvm/cpu_levels.h"
#include "compiler/driver/options.h"
#include "compiler/support/result.h"
#include "targets/target.h"

namespace relaxc::driver {

/// The machine of --target or --target-from-cc, with what --mcpu, --mattr, --float-abi and --threads say of it. With
/// both of the first two, fails (usage) if objects of the one do not link with objects of the other. Of several CPUs
/// the best.
Result<Target> choose_target(const Options& options, Diagnostics& diag);

/// The CPUs of --mcpu=A,B, least first; none if it names one at most.
Result<std::vector<codegen_llvm::CpuLevel>> choose_levels(const Options& options, Diagnostics& diag);

}  // namespace relaxc::driver
