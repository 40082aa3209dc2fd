// interleave_words.h: the step `interleave_words`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// The bytes that the dot products of four (tensorize_dot4) in `loop` read are copied before it to scratch memory,
/// widened to 16 bits each, in the order in which the sums take them: a word for each iteration of the loop, for each
/// step of a sum. So the copy of a convolution's window is its im2col, and one address that ascends serves all sums.
/// Each word's even bytes come before its odd ones, as instructions that multiply pairs of 16-bit numbers take them
/// from the words of the constant (arith::PairDot).
struct InterleaveWords {
  static constexpr StepInfo kInfo{
      .name = "interleave_words",
      .arguments = "BUFFER LOOP",
      .doc =
          "Copies the bytes that dot products of four in LOOP read of BUFFER to scratch memory before it, widened to "
          "16 bits: for each step of a sum, in order, the words of all iterations side by side (im2col). The constant "
          "must be packed afterwards."};
  BufferRef buffer = nullptr;
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.buffer, self.loop); }

  using Made = Done;
  struct Facts {
    std::vector<Var> vars = {};         ///< of the loops that decide which word is read: those of sums, `loop` last
    std::vector<int64_t> extents = {};  ///< theirs
    std::vector<Expr> first = {};       ///< the subscripts of a word's first byte
    size_t along = 0;                   ///< the subscript by which its other bytes differ
    BufferRef wide = nullptr;           ///< the copy
    Stmt sums = {};                     ///< the loop, as it reads the copy

    int64_t words() const;  ///< of the copy
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
