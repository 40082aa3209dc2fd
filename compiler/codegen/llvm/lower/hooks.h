// hooks.h: calls of the context's hooks around kernels, if the object was compiled with hooks.
//
// The calls are around the call of a kernel, not inside of the kernel: a kernel is compiled once and called for several
// nodes, and its tasks, which run on any thread, must not report one by one. A hook that is null costs a load and a
// branch for each kernel; an object without hooks has no code for them.
#pragma once

#include <functional>

#include "compiler/codegen/llvm/lower/failures.h"

namespace relaxc::codegen_llvm {

class ContextHooks {
 public:
  ContextHooks(Frame& frame, Failures& failures) : frame_(frame), b_(frame.builder()), failures_(failures) {}

  /// Calls the poll hook; the function returns an error if the hook says so.
  void poll(int32_t node);
  void trace(int32_t node, bool begin);

 private:
  void with_hook(std::string_view hook, const std::function<void(llvm::Value* function, llvm::Value* user)>& call);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  Failures& failures_;
};

}  // namespace relaxc::codegen_llvm
