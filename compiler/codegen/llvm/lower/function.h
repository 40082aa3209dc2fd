// function.h: lowers the body of one prim func to LLVM IR.
#pragma once

#include "compiler/codegen/llvm/lower/function_parts.h"

namespace relaxc::codegen_llvm {

class FunctionLowering {
 public:
  /// `data`: addresses in the object that a function which C calls names; may be null.
  FunctionLowering(ModuleLowering& module, const Signature& signature, const ObjectAddresses* data = nullptr)
      : parts_(module, signature), frame_(parts_.frame), source_(frame_.source()), data_(data) {}
  void run();

 private:
  void bind_parameters();
  void bind_buffer(tir::BufferRef buffer, llvm::Argument* argument);
  void bind_c_function(const tir::CFunction& function);
  void lower_copy();

  FunctionParts parts_;
  Frame& frame_;
  const tir::PrimFunc& source_;
  const ObjectAddresses* data_;
};

}  // namespace relaxc::codegen_llvm
