// choose_target.h: derives the target machine from the flags.
#pragma once

#include "compiler/api/compile_options.h"
#include "compiler/codegen/llvm/cpu_levels.h"
#include "compiler/support/result.h"
#include "targets/target.h"

namespace relaxc::api {

/// Returns the machine of --target or --target-from-cc, refined by --mcpu, --mattr, --float-abi and --threads; of
/// several CPUs the best. Fails (usage) if both of the first two are given and objects of the one do not link with
/// objects of the other.
Result<Target> choose_target(const CompileOptions& options, Diagnostics& diag);

/// Returns the CPUs of --mcpu=A,B, least first. If no flag names a CPU of x86-64, the one for which the object is
/// compiled and which it checks for. Empty if the flags name a single CPU, since the object does not check for that.
Result<std::vector<codegen_llvm::CpuLevel>> choose_levels(const CompileOptions& options, Diagnostics& diag);

/// Returns flags that select the same machine: --target, and --mcpu and --mattr if a CPU was named.
Result<std::string> target_flags(const CompileOptions& options, Diagnostics& diag);

}  // namespace relaxc::api
