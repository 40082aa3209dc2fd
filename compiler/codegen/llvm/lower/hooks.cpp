// hooks.cpp: calls the context's hooks, which may be null.
#include "compiler/codegen/llvm/lower/hooks.h"

namespace relaxc::codegen_llvm {

using interface::Record;
using llvm::Value;

/// Emits a test around the code of `call`: it runs if a context has the hook (not null). `user` is the hook's argument.
void ContextHooks::with_hook(std::string_view hook, const std::function<void(Value* function, Value* user)>& call) {
  llvm::BasicBlock *look = frame_.block("hook"), *there = frame_.block("hooked"),
                   *continue_block = frame_.block("unhooked");
  Value* context = frame_.context();
  b_.CreateCondBr(b_.CreateIsNull(context), continue_block, look);
  b_.SetInsertPoint(look);
  Value* function = b_.CreateLoad(b_.getPtrTy(), frame_.field(context, Record::kContext, hook));
  b_.CreateCondBr(b_.CreateIsNull(function), continue_block, there);
  b_.SetInsertPoint(there);
  Value* user = frame_.field(context, Record::kContext, std::string(hook) + "_user");
  call(function, b_.CreateLoad(b_.getPtrTy(), user));
  b_.CreateBr(continue_block);
  b_.SetInsertPoint(continue_block);
}

void ContextHooks::trace(int32_t node, bool begin) {
  with_hook("trace", [&](Value* function, Value* user) {
    llvm::Type* number = b_.getInt32Ty();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), number, number}, false);
    b_.CreateCall(type, function, {user, b_.getInt32(static_cast<uint32_t>(node)), b_.getInt32(begin)});
  });
}

void ContextHooks::poll(int32_t node) {
  constexpr int32_t kPolled = 39;
  with_hook("poll", [&](Value* function, Value* user) {
    auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy(), b_.getInt32Ty()}, false);
    Value* answer = b_.CreateCall(type, function, {user, b_.getInt32(static_cast<uint32_t>(node))});
    failures_.leave_if_failed(answer, [&] { return failures_.fail_with(kPolled, node, answer); });
  });
}

}  // namespace relaxc::codegen_llvm
