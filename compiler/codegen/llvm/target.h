// target.h: resolves names of machines to what LLVM knows of them.
#pragma once

#include <string>

#include "targets/machine.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// Completes a machine to a Target. An empty `triple` is this machine. An empty `cpu` is that of the first known
/// machine of the architecture (x86-64-v3 for x86-64), else LLVM's baseline; "native" is this machine's CPU with its
/// features, and with its L1 cache unless the machine has caches. A float ABI, which ARM alone has, becomes part of the
/// triple (hard: eabihf) and of the features (soft: no floating-point unit). Fails (kUsage) on an unknown triple, CPU,
/// feature or float ABI, or on "native" for another architecture.
Result<Target> resolve_target(const Machine& machine, Diagnostics& diag);

/// The same without a description of a machine. `features` is LLVM's attribute string ("+avx2,-fma").
Result<Target> resolve_target(const std::string& triple, const std::string& cpu, const std::string& features,
                              Diagnostics& diag);

/// Returns true if objects for the two triples have the same architecture, word size, calling convention and format, so
/// that one linker accepts both.
bool link_together(const std::string& triple, const std::string& other);
/// Returns true if a linker of this machine accepts objects for the triple.
bool links_here(const std::string& triple);

}  // namespace relaxc::codegen_llvm
