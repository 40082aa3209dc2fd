// calls.h: lowers calls of prim funcs, and for every call the hooks, the test of the status, and the results.
#pragma once

#include <vector>

#include "compiler/codegen/llvm/lower/checks.h"
#include "compiler/codegen/llvm/lower/external_calls.h"
#include "compiler/codegen/llvm/lower/hooks.h"

namespace relaxc::codegen_llvm {

class Calls {
 public:
  Calls(Frame& frame, BufferAddresses& addresses, Values& values, OverflowChecks& checks, Failures& failures,
        ExternalCalls& externals)
      : frame_(frame),
        b_(frame.builder()),
        addresses_(addresses),
        values_(values),
        checks_(checks),
        failures_(failures),
        externals_(externals),
        hooks_(frame, failures) {}

  void lower(const tir::Invoke& s);

 private:
  llvm::Value* status_of(const tir::Invoke& s, const Signature* callee, ExternalCalls::Results& results);
  llvm::Value* call_internal(const tir::Invoke& s, const Signature& callee);
  std::vector<llvm::Value*> symbol_arguments(const tir::Invoke& s, const Signature& callee);
  llvm::Value* symbol_of_shapes(const tir::Invoke& s, const tir::PrimFunc& callee, arith::Var symbol);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  BufferAddresses& addresses_;
  Values& values_;
  OverflowChecks& checks_;
  Failures& failures_;
  ExternalCalls& externals_;
  ContextHooks hooks_;
};

}  // namespace relaxc::codegen_llvm
