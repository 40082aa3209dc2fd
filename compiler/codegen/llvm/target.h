// target.h: what LLVM knows of machines.
#pragma once

#include <string>

#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// Fills in a Target. Empty `triple`: this machine. `cpu` empty: x86-64-v3 (AVX2 and FMA) or the architecture's
/// baseline; "native": this machine's CPU with what it can do. `features`: LLVM's attribute string ("+avx2,-fma") on
/// top. Fails (kUsage) on an unknown triple, CPU or feature, or "native" for another architecture.
Result<Target> resolve_target(const std::string& triple, const std::string& cpu, const std::string& features,
                              Diagnostics& diag);

}  // namespace relaxc::codegen_llvm
