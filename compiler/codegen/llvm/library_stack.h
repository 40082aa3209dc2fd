// library_stack.h: the stack of functions that an object calls and does not have.
#pragma once

#include <llvm/TargetParser/Triple.h>

#include <optional>
#include <string_view>

namespace relaxc::codegen_llvm {

/// Bytes that a call of `name` takes at most, with the return address where the call stores one. Nothing: it is not a
/// function of runtime-lite, of the compiler's library or of those of the C library that compilers call.
std::optional<uint64_t> library_stack(std::string_view name, const llvm::Triple& triple);

}  // namespace relaxc::codegen_llvm
