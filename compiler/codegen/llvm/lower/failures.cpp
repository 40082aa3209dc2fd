// failures.cpp: emits branches that leave the function, and fills the error records that say why.
#include "compiler/codegen/llvm/lower/failures.h"

#include <llvm/IR/MDBuilder.h>

#include "compiler/codegen/llvm/lower/buffer_addresses.h"
#include "compiler/codegen/llvm/lower/values.h"

namespace relaxc::codegen_llvm {

using llvm::Value;

Value* Failures::error() const {
  if (error_ != nullptr || !frame_.called_by_c()) return error_;
  const BufferAddress* found = addresses_.find(frame_.source().c_function->error);
  return found != nullptr ? found->address : frame_.null();
}

void Failures::leave_if(Value* failed, const std::function<Value*()>& status) {
  llvm::BasicBlock *leave = frame_.block("fails"), *continue_block = frame_.block("holds");
  llvm::BranchInst* branch = b_.CreateCondBr(failed, leave, continue_block);
  llvm::MDBuilder weights(b_.getContext());
  const bool runs_once = frame_.called_by_c();  // then code size counts more than block layout
  if (!runs_once) branch->setMetadata(llvm::LLVMContext::MD_prof, weights.createBranchWeights(1, 1 << 20));
  b_.SetInsertPoint(leave);
  values_.isolated([&] { b_.CreateRet(status()); });
  b_.SetInsertPoint(continue_block);
}

void Failures::leave_if_failed(Value* status, const std::function<Value*()>& result) {
  leave_if(b_.CreateICmpNE(status, b_.getInt32(0)), result);
}

Value* Failures::fail(const tir::Guard& guard, Value* expected, Value* actual) {
  Value* record = error();
  if (llvm::isa<llvm::ConstantPointerNull>(record)) return b_.getInt32(static_cast<uint32_t>(guard.code));
  auto pair = [&](int32_t low, int32_t high) {
    return b_.getInt64(static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | static_cast<uint32_t>(low));
  };
  llvm::CallInst* call =
      b_.CreateCall(frame_.module().fail(frame_.called_by_c()),
                    {record, b_.getInt32(static_cast<uint32_t>(guard.code)), pair(guard.tensor, guard.axis),
                     pair(guard.symbol, guard.error_node), expected, actual});
  call->setTailCall();
  return call;
}

Value* Failures::fail_with(int32_t code, int32_t node, Value* answer) {
  tir::Guard record;
  record.code = code, record.error_node = node;
  Value* nothing = b_.getInt64(0);
  return fail(record, nothing, b_.CreateSExt(answer, b_.getInt64Ty()));
}

Value* Failures::name_failure(int32_t node, Value* status) {
  if (node < 0) return status;
  llvm::CallInst* call =
      b_.CreateCall(frame_.module().name_failure(), {error(), b_.getInt32(static_cast<uint32_t>(node)), status});
  call->setTailCall();
  return call;
}

}  // namespace relaxc::codegen_llvm
