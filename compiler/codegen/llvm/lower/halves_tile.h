// halves_tile.h: the loop that sums products of pairs of 16-bit numbers for a column or a row of results, in assembly.
//
// The problem: tiles whose bytes are widened once (schedule/strategies/parts/wide_tile.h) load two words for each sum
// and step, and multiply for each of them. LDM loads the words of two sums by one instruction, but LLVM's allocator
// does not choose ascending registers for it, and keeps LDRD.
//
// The method: as in byte_tile.h, the innermost loop of such sums becomes one inline assembly statement, found by its
// form: sums of pair_dot (arith/dot.h) whose numbers lie one sum's behind the other's. On a core that issues two
// instructions at once, so do sums of dot4 for a row of results, whose words lie one behind the other: LLVM orders
// their loads, widenings and products so that each waits for the one before.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/llvm/lower/memory.h"

namespace relaxc::codegen_llvm {

class HalvesTiles {
 public:
  HalvesTiles(Frame& frame, LaneArithmetic& lanes, Memory& memory)
      : frame_(frame), b_(frame.builder()), lanes_(lanes), memory_(memory) {}

  /// Whether the loop was such a one, and is done.
  bool lower(const tir::For& s);

 private:
  /// Assembly, and what its operands are.
  struct Statement {
    std::string text, constraints;
    bool loops, sets_sums, end_is_float;
  };
  template <typename Text>
  static Statement statement_of(const Text& text, bool end_is_float) {
    return {text.text(), text.constraints(), text.loops(), text.sets_sums(), end_is_float};
  }
  Statement column_statement(int64_t sums, int64_t steps, bool from_zero) const;
  void call(const Statement& code, const std::vector<llvm::Value*>& inputs, const std::vector<llvm::Value*>& sums);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  Memory& memory_;
};

}  // namespace relaxc::codegen_llvm
