// parallel.h: lowers loops whose iterations may run on several cores.
//
// The loop's body becomes a function of a range of iterations, whose parameters are the values and buffers that the
// body uses; so LLVM knows that the buffers do not overlap. The caller runs the whole range itself, or passes
// parallel_for a task that reads its share of the range from a record on the caller's stack. The number of tasks does
// not affect the result, since iterations are independent.
#pragma once

#include <vector>

#include "compiler/codegen/llvm/lower/bindings.h"
#include "compiler/codegen/llvm/lower/buffer_addresses.h"
#include "compiler/codegen/llvm/lower/failures.h"

namespace relaxc::codegen_llvm {

class ParallelLoops {
 public:
  ParallelLoops(Frame& frame, Bindings& bindings, BufferAddresses& addresses, Failures& failures)
      : frame_(frame), b_(frame.builder()), bindings_(bindings), addresses_(addresses), failures_(failures) {}

  bool can_run(const tir::For& s) const;
  void lower(const tir::For& s, llvm::Value* min, llvm::Value* extent);

 private:
  /// The variables and buffers from outside that a body uses.
  struct Captures {
    std::vector<arith::Expr> vars;
    std::vector<tir::BufferRef> buffers;
  };
  Captures captured(const tir::For& s) const;
  llvm::Function* body_of(const tir::For& s, const Captures& captures);
  llvm::Function* declare_body(const Captures& captures);
  llvm::Function* task_of(llvm::Function* body, llvm::StructType* record);
  llvm::Value* share(llvm::Value* parallel_for, llvm::Function* task, llvm::StructType* record,
                     const std::vector<llvm::Value*>& args, llvm::Value* extent);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  Bindings& bindings_;
  BufferAddresses& addresses_;
  Failures& failures_;
};

}  // namespace relaxc::codegen_llvm
