// frame.h: the LLVM function that is being filled, and what all parts of its lowering share.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/llvm/lower.h"

namespace relaxc::codegen_llvm {

class Frame {
 public:
  /// For the function that `signature` declares, or for `task`, which runs iterations of one of its loops.
  Frame(ModuleLowering& module, const Signature& signature, llvm::Function* task = nullptr);

  ModuleLowering& module() const { return module_; }
  const LoweringOptions& options() const { return module_.options(); }
  const Signature& signature() const { return signature_; }
  const tir::PrimFunc& source() const { return *signature_.source; }
  llvm::Function* function() const { return function_; }
  llvm::IRBuilder<>& builder() { return b_; }
  Numeric& numeric() { return numeric_; }
  bool in_task() const { return function_ != signature_.function; }
  bool called_by_c() const { return source().c_function.has_value(); }
  /// The rlx_context of this call; null in functions that take none.
  llvm::Value* context() const { return context_; }
  void set_context(llvm::Value* context) { context_ = context; }

  llvm::BasicBlock* block(const char* name);
  /// Ends the current block by a branch; statements after it in the same suite are unreachable.
  void branch_to(llvm::BasicBlock* target);
  /// Allocates memory in the function's entry block, wherever code is being inserted.
  llvm::AllocaInst* at_entry(llvm::Type* type, const std::string& name = "");
  llvm::Value* field(llvm::Value* record, interface::Record which, std::string_view name);
  llvm::Constant* null() { return llvm::ConstantPointerNull::get(b_.getPtrTy()); }
  /// Calls a function of the runtime; declares it in the module.
  llvm::CallInst* call_runtime(const std::string& name, llvm::Type* result, const std::vector<llvm::Value*>& args);
  /// The same for a function that the linking program may define, and whose stack use is therefore unknown.
  llvm::CallInst* call_symbol(const std::string& name, llvm::Type* result, const std::vector<llvm::Value*>& args);

 private:
  llvm::FunctionCallee declared(const std::string& name, llvm::Type* result, const std::vector<llvm::Value*>& args);

  ModuleLowering& module_;
  const Signature& signature_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  Numeric numeric_;
  llvm::Value* context_ = nullptr;
};

}  // namespace relaxc::codegen_llvm
