// lower_hooks.cpp: telling the context about kernels, where the object was compiled to.
//
// The calls stand around the call of a kernel and not inside of it: a kernel is compiled once and called as several
// nodes, and its tasks, which run on any thread, must not be heard one by one. A hook that is null costs a load and a
// branch a kernel; an object without hooks has no trace of them.
#include "compiler/codegen/llvm/lower_function.h"

namespace relaxc::codegen_llvm {

using interface::Record;
using llvm::Value;

/// What `call` lowers runs if there is a context and `hook` of it is not null; `user` is the hook's own argument.
void FunctionLowering::with_hook(std::string_view hook, const std::function<void(Value* function, Value* user)>& call) {
  llvm::BasicBlock *look = block("hook"), *there = block("hooked"), *go_on = block("unhooked");
  b_.CreateCondBr(b_.CreateIsNull(context_), go_on, look);
  b_.SetInsertPoint(look);
  Value* function = b_.CreateLoad(b_.getPtrTy(), field(context_, Record::kContext, hook));
  b_.CreateCondBr(b_.CreateIsNull(function), go_on, there);
  b_.SetInsertPoint(there);
  Value* user = field(context_, Record::kContext, std::string(hook) + "_user");
  call(function, b_.CreateLoad(b_.getPtrTy(), user));
  b_.CreateBr(go_on);
  b_.SetInsertPoint(go_on);
}

void FunctionLowering::trace(int32_t node, bool begin) {
  with_hook("trace", [&](Value* function, Value* user) {
    llvm::Type* number = b_.getInt32Ty();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), number, number}, false);
    b_.CreateCall(type, function, {user, b_.getInt32(static_cast<uint32_t>(node)), b_.getInt32(begin)});
  });
}

void FunctionLowering::poll(int32_t node) {
  with_hook("poll", [&](Value* function, Value* user) {
    auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy(), b_.getInt32Ty()}, false);
    Value* answer = b_.CreateCall(type, function, {user, b_.getInt32(static_cast<uint32_t>(node))});
    leave_if(b_.CreateICmpNE(answer, b_.getInt32(0)), [&]() -> Value* {
      constexpr int32_t kPolled = 39;
      tir::Guard record;
      record.code = kPolled;
      record.error_node = node;
      return fail(record, b_.getInt64(0), b_.CreateSExt(answer, b_.getInt64Ty()));
    });
  });
}

}  // namespace relaxc::codegen_llvm
