// failures.h: leaves a function with an error.
//
// A failure returns its code at once and fills the caller's error record, if there is one. Every function passes its
// error pointer to its callees, so that no caller copies a record.
#pragma once

#include <functional>

#include "compiler/codegen/llvm/lower/frame.h"

namespace relaxc::codegen_llvm {

class BufferAddresses;
class Values;

class Failures {
 public:
  Failures(Frame& frame, Values& values, BufferAddresses& addresses)
      : frame_(frame), b_(frame.builder()), values_(values), addresses_(addresses) {}

  /// The error record's address; may be null. In a function that C calls: CFunction::error, once that has an address.
  llvm::Value* error() const;
  void set_error(llvm::Value* error) { error_ = error; }

  /// If `failed` is true at run time, the function returns the result of `status`.
  void leave_if(llvm::Value* failed, const std::function<llvm::Value*()>& status);
  /// If `status` is not 0 at run time, the function returns `result`.
  void leave_if_failed(llvm::Value* status, const std::function<llvm::Value*()>& result);
  /// Fills the record for a guard; returns the guard's code.
  llvm::Value* fail(const tir::Guard& guard, llvm::Value* expected, llvm::Value* actual);
  /// Fills the record with the node and `answer`, the number that a call returned; returns `code`.
  llvm::Value* fail_with(int32_t code, int32_t node, llvm::Value* answer);
  /// Puts the node of a call into the record, unless the failed callee has set one; returns the call's status.
  llvm::Value* name_failure(int32_t node, llvm::Value* status);

 private:
  Frame& frame_;
  llvm::IRBuilder<>& b_;
  Values& values_;
  BufferAddresses& addresses_;
  llvm::Value* error_ = nullptr;
};

}  // namespace relaxc::codegen_llvm
