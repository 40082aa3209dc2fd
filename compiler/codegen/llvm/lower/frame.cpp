// frame.cpp: makes blocks, allocas and declarations for the function that is being filled.
#include "compiler/codegen/llvm/lower/frame.h"

#include "compiler/codegen/llvm/stack_bound.h"

namespace relaxc::codegen_llvm {

using llvm::Value;

Frame::Frame(ModuleLowering& module, const Signature& signature, llvm::Function* task)
    : module_(module),
      signature_(signature),
      function_(task != nullptr ? task : signature.function),
      b_(llvm::BasicBlock::Create(function_->getContext(), "entry", function_)),
      numeric_(b_, module.options().capabilities) {}

llvm::BasicBlock* Frame::block(const char* name) {
  return llvm::BasicBlock::Create(function_->getContext(), name, function_);
}

void Frame::branch_to(llvm::BasicBlock* target) {
  b_.CreateBr(target);
  b_.SetInsertPoint(block("unreached"));
}

llvm::AllocaInst* Frame::at_entry(llvm::Type* type, const std::string& name) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type, nullptr, name);
}

Value* Frame::field(Value* record, interface::Record which, std::string_view name) {
  return b_.CreateStructGEP(module_.record(which), record, interface::field_index(which, name));
}

llvm::FunctionCallee Frame::declared(const std::string& name, llvm::Type* result, const std::vector<Value*>& args) {
  std::vector<llvm::Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  auto* type = llvm::FunctionType::get(result, types, false);
  llvm::FunctionCallee callee = module_.module().getOrInsertFunction(name, type);
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) function->setDoesNotThrow();
  return callee;
}

llvm::CallInst* Frame::call_runtime(const std::string& name, llvm::Type* result, const std::vector<Value*>& args) {
  return b_.CreateCall(declared(name, result, args), args);
}

llvm::CallInst* Frame::call_symbol(const std::string& name, llvm::Type* result, const std::vector<Value*>& args) {
  llvm::FunctionCallee callee = declared(name, result, args);
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) mark_of_program(*function);
  return b_.CreateCall(callee, args);
}

}  // namespace relaxc::codegen_llvm
