// target.h: what LLVM knows of machines.
#pragma once

#include <string>

#include "targets/machine.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// Completes a machine to a Target. Empty `triple`: this machine. `cpu` empty: that of the first known machine of the
/// architecture (x86-64-v3 for x86-64), else LLVM's baseline; "native": this machine's CPU with what it can do, and its
/// first level of cache where the machine has no others. A float ABI, which ARM alone has, is made part of the triple
/// (hard: eabihf) and of the features (soft: no unit is used). Fails (kUsage) on an unknown triple, CPU, feature or
/// float ABI, or "native" for another architecture.
Result<Target> resolve_target(const Machine& machine, Diagnostics& diag);

/// The same without a description. `features`: LLVM's attribute string ("+avx2,-fma").
Result<Target> resolve_target(const std::string& triple, const std::string& cpu, const std::string& features,
                              Diagnostics& diag);

/// True if objects for the two triples have one architecture, word, calling convention and format, so that a linker
/// takes both.
bool link_together(const std::string& triple, const std::string& other);
/// True if a linker of this machine takes objects for the triple.
bool links_here(const std::string& triple);

}  // namespace relaxc::codegen_llvm
