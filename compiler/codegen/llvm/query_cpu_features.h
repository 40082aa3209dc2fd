// query_cpu_features.h: code in an object that asks the CPU for its features.
#pragma once

#include <llvm/IR/Module.h>

namespace relaxc::codegen_llvm {

/// Fills `function`, an empty `i64 ()` of an x86-64 or aarch64 module, with code that returns what rlx_cpu_features()
/// of runtime-lite returns: RLX_CPU_KNOWN and the features that CPU and operating system let a program use. On x86-64
/// it refers to no symbol; on aarch64 Linux to `getauxval`, weakly. Other systems on aarch64 have no such call; there
/// the result is what every CPU of that system has.
void query_cpu_features(llvm::Function& function);

}  // namespace relaxc::codegen_llvm
