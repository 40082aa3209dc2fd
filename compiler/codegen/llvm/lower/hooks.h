// hooks.h: telling the context about kernels, where the object was compiled to.
//
// The calls surround the call of a kernel and are not inside of it: a kernel is compiled once and called as several
// nodes, and its tasks, which run on any thread, must not be heard one by one. A hook that is null costs a load and a
// branch a kernel; an object without hooks has no trace of them.
#pragma once

#include <functional>

#include "compiler/codegen/llvm/lower/failures.h"

namespace relaxc::codegen_llvm {

class ContextHooks {
 public:
  ContextHooks(Frame& frame, Failures& failures) : frame_(frame), b_(frame.builder()), failures_(failures) {}

  /// Asks whether to go on, and leaves if not.
  void poll(int32_t node);
  void trace(int32_t node, bool begin);

 private:
  void with_hook(std::string_view hook, const std::function<void(llvm::Value* function, llvm::Value* user)>& call);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  Failures& failures_;
};

}  // namespace relaxc::codegen_llvm
