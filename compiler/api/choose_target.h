// choose_target.h: the machine that the flags mean.
#pragma once

#include "compiler/api/compile_options.h"
#include "compiler/codegen/llvm/cpu_levels.h"
#include "compiler/support/result.h"
#include "targets/target.h"

namespace relaxc::api {

/// The machine of --target or --target-from-cc, with what --mcpu, --mattr, --float-abi and --threads say of it. With
/// both of the first two, fails (usage) if objects of the one do not link with objects of the other. Of several CPUs
/// the best.
Result<Target> choose_target(const CompileOptions& options, Diagnostics& diag);

/// The CPUs of --mcpu=A,B, least first. The one that an object for x86-64 takes and asks for if no flag names a CPU.
/// None if the flags name one CPU, which is not asked for.
Result<std::vector<codegen_llvm::CpuLevel>> choose_levels(const CompileOptions& options, Diagnostics& diag);

/// Flags that mean the same machine: --target, and --mcpu and --mattr where a CPU was named.
Result<std::string> target_flags(const CompileOptions& options, Diagnostics& diag);

}  // namespace relaxc::api
