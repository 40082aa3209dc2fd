// row_copies.h: copies of rows between buffers that overlap.
//
// The problem: LLVM makes a memcpy of a loop that copies only if it sees that the two cannot alias, and memory planning
// lets the result of a kernel overlap an operand (analysis/overlaps.h). The loop then copies one element at a time.
//
// The method: distances between the two are found as if all stores of a loop without loops inside came before its
// loads, so what such a loop reads and what it stores are apart. A loop that does nothing but copy, element after
// element, becomes a memcpy.
#pragma once

#include "compiler/codegen/llvm/lower/memory.h"

namespace relaxc::codegen_llvm {

class RowCopies {
 public:
  RowCopies(Frame& frame, LaneArithmetic& lanes, const BufferAddresses& addresses, Memory& memory)
      : frame_(frame), b_(frame.builder()), lanes_(lanes), addresses_(addresses), memory_(memory) {}

  /// Lowers the loop and returns true if it is such a copy; else does nothing and returns false.
  bool lower(const tir::For& s);

 private:
  bool may_overlap(tir::BufferRef buffer) const;
  llvm::Value* first_element(const tir::For& s, tir::BufferRef buffer, const std::vector<arith::Expr>& indices);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  const BufferAddresses& addresses_;
  Memory& memory_;
};

}  // namespace relaxc::codegen_llvm
