// external_calls.h: calls of C functions of the linking program, of the runtime, and of an Evaluator's owner.
//
// In an object an external function is an undefined symbol. Code that runs inside of relaxc has no such symbols: it
// passes name and arguments to relaxc_jit_external, which asks the Evaluator's owner. There a scalar is a tensor record
// without data, with ndim -1 and the value as its byte offset (of a float the bits of a double); the result of a plain
// function is stored to a tensor of rank 0 after the arguments.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/codegen/llvm/lower/buffer_addresses.h"
#include "compiler/codegen/llvm/lower/failures.h"
#include "compiler/codegen/llvm/lower/values.h"

namespace relaxc::codegen_llvm {

class ExternalCalls {
 public:
  ExternalCalls(Frame& frame, BufferAddresses& addresses, Values& values, Failures& failures)
      : frame_(frame),
        b_(frame.builder()),
        numeric_(frame.numeric()),
        addresses_(addresses),
        values_(values),
        failures_(failures) {}

  /// Actions that take the results, after the call is known to have succeeded.
  using Results = std::vector<std::function<void()>>;
  /// Returns the status of an external function; null if it has none. Appends to `results` for results of unknown size.
  llvm::Value* call(const tir::Invoke& s, Results& results);
  /// Calls a function of runtime-lite; returns its status.
  llvm::Value* call_runtime(const tir::Invoke& s);
  /// Returns the value of a plain function in an expression.
  llvm::Value* result_of(const arith::Extern& e);

 private:
  llvm::Value* plain_result(const std::string& name, DType dtype, const std::vector<tir::Argument>& given);
  llvm::Value* plain_result_of_owner(const std::string& name, DType dtype, const std::vector<tir::Argument>& given);
  llvm::Value* ask_owner(const std::string& name, const std::vector<llvm::Value*>& records);
  llvm::Value* handle_argument(tir::BufferRef buffer, int32_t node, Results& results);
  llvm::Value* place_of_handle(llvm::Value* words, Results& results);
  llvm::Value* place_of_tensor(llvm::Value* words, int32_t node, Results& results);
  llvm::Value* as_int64(arith::Expr given);
  llvm::Value* scalar_record(arith::Expr given);
  llvm::Value* tensor_record(tir::BufferRef buffer);
  llvm::Value* tensor_record(DType dtype, llvm::Value* data, llvm::Value* shape = nullptr, uint64_t rank = 0);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  Numeric& numeric_;
  BufferAddresses& addresses_;
  Values& values_;
  Failures& failures_;
};

}  // namespace relaxc::codegen_llvm
