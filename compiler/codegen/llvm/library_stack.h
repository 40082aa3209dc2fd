// library_stack.h: the stack use of library functions that an object calls.
#pragma once

#include <llvm/TargetParser/Triple.h>

#include <optional>
#include <string_view>

namespace relaxc::codegen_llvm {

/// Returns an upper bound of the bytes that a call of `name` uses, with the return address if the call pushes one.
/// nullopt unless it is a function of runtime-lite, of the compiler's library, or of the C library that compilers call.
std::optional<uint64_t> library_stack(std::string_view name, const llvm::Triple& triple);

}  // namespace relaxc::codegen_llvm
