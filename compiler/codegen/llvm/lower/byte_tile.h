// byte_tile.h: the loop that sums products of bytes for a tile of results, in assembly.
//
// The problem: the sums of a tile of 2x2 or 4x4 results fit the registers of a Cortex-M0+ or of RISC-V beside their
// operands, and LLVM spills a third of them. Thumb's first version adds to registers beyond the eight that it
// multiplies in, which LLVM's allocator does not use; on RISC-V, LLVM multiplies all pairs before it adds the first.
//
// The method: the innermost loop of such sums becomes one inline assembly statement, whose operands are the sums and
// the addresses of the first bytes. The loop is recognized by its form, so other targets compile it like any other
// loop. A loop directly around it is part of the statement if its addresses continue where the inner loop ends.
#pragma once

#include "compiler/codegen/llvm/lower/byte_tile_text.h"
#include "compiler/codegen/llvm/lower/memory.h"

namespace relaxc::codegen_llvm {

class ByteTiles {
 public:
  ByteTiles(Frame& frame, LaneArithmetic& lanes, Memory& memory)
      : frame_(frame), b_(frame.builder()), lanes_(lanes), memory_(memory) {}

  /// Lowers the loop and returns true if it is of this form; else does nothing and returns false.
  bool lower(const tir::For& s);

 private:
  llvm::Value* address_of(const arith::Load& first);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  Memory& memory_;
};

}  // namespace relaxc::codegen_llvm
