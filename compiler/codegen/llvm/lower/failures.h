// failures.h: how a function leaves when something failed.
//
// A failure leaves the function at once with its code; the record goes where the caller said, or nowhere. Every
// function passes its error pointer down, so nothing is copied on the way up.
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

  /// Where failures are recorded. Of a function that C calls it is the address of CFunction::error, once that has one.
  llvm::Value* error() const;
  void set_error(llvm::Value* error) { error_ = error; }

  /// Returns what `status` computes.
  void leave_if(llvm::Value* failed, const std::function<llvm::Value*()>& status);
  /// Returns it if it is not 0.
  void leave_if_failed(llvm::Value* status, const std::function<llvm::Value*()>& result);
  /// The guard's code, once its record is written.
  llvm::Value* fail(const tir::Guard& guard, llvm::Value* expected, llvm::Value* actual);
  /// `code`, once its record has the node and the number that a call gave.
  llvm::Value* fail_with(int32_t code, int32_t node, llvm::Value* answer);
  /// The status of a call that failed, once its record has the node of the call, unless what failed in it has one.
  llvm::Value* name_failure(int32_t node, llvm::Value* status);

 private:
  Frame& frame_;
  llvm::IRBuilder<>& b_;
  Values& values_;
  BufferAddresses& addresses_;
  llvm::Value* error_ = nullptr;
};

}  // namespace relaxc::codegen_llvm
