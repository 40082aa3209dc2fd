// halves_tile.h: the loop that sums products of pairs of 16-bit numbers for a column of results, in assembly.
//
// The problem: tiles whose bytes are widened once (schedule/strategies/parts/wide_tile.h) load two words for each sum
// and step, and multiply for each of them. LDM loads the words of two sums by one instruction, but LLVM's allocator
// does not choose ascending registers for it, and keeps LDRD.
//
// The method: as in byte_tile.h, the innermost loop of such sums becomes one inline assembly statement, found by its
// form: sums of pair_dot (arith/dot.h) whose numbers lie one sum's behind the other's.
#pragma once

#include "compiler/codegen/llvm/lower/memory.h"

namespace relaxc::codegen_llvm {

class HalvesTiles {
 public:
  HalvesTiles(Frame& frame, LaneArithmetic& lanes, Memory& memory)
      : frame_(frame), b_(frame.builder()), lanes_(lanes), memory_(memory) {}

  /// Whether the loop was such a one, and is done.
  bool lower(const tir::For& s);

 private:
  Frame& frame_;
  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  Memory& memory_;
};

}  // namespace relaxc::codegen_llvm
