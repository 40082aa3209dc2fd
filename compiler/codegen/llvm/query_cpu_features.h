// query_cpu_features.h: the question to the CPU that an object asks itself.
#pragma once

#include <llvm/IR/Module.h>

namespace relaxc::codegen_llvm {

/// Fills `function`, an empty `i64 ()` of an x86-64 or aarch64 module, with code that returns what rlx_cpu_features()
/// of runtime-lite returns: RLX_CPU_KNOWN and the features that the CPU and its operating system let a program use.
/// On x86-64 it refers to nothing; on aarch64 Linux to `getauxval`, weakly. Elsewhere on aarch64 there is no such call,
/// so the answer is what every CPU of that system has.
void query_cpu_features(llvm::Function& function);

}  // namespace relaxc::codegen_llvm
