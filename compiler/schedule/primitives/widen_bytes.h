// widen_bytes.h: the step `widen_bytes`.
#pragma once

#include "compiler/schedule/analysis/region.h"
#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// What each of `loops` reads of unsigned bytes is copied before it to scratch memory, in 16 bits each, where it is
/// contiguous: an instruction that multiplies pairs of 16-bit numbers takes them as they lie there. Where a loop counts
/// rows, four numbers of each row lie next to those of the next row, so that a tile of rows has them at small
/// distances. All that the loops do with the bytes is sums of four products by words of a constant (tensorize_dot4),
/// which nothing else reads; its words get their bytes in the order that such pairs need (arith::PairDot) when it is
/// packed, which must come later.
struct WidenBytes {
  static constexpr StepInfo kInfo{
      .name = "widen_bytes",
      .arguments = "BUFFER LOOP|LOOPS",
      .doc =
          "Copies what the dot products of four in each of LOOPS read of BUFFER to scratch memory before the loop, "
          "widened to 16 bits, and orders the bytes of the constant's words as products of pairs need. The constant "
          "must be packed afterwards."};
  BufferRef buffer = nullptr;
  std::vector<uint32_t> loops;  ///< none of them inside of another
  static auto fields(auto& self) { return std::tie(self.buffer, self.loops); }

  using Made = Done;
  /// Of one of the loops.
  struct Copied {
    uint32_t loop = 0;
    Region region = {};
    size_t along = 0;                 ///< the dim in which bytes lie side by side; those behind it have one element
    std::optional<size_t> rows = {};  ///< the dim that the loop counts
    int64_t terms = 0;                ///< of the innermost loop of a sum
    BufferRef wide = nullptr;         ///< the copy
    Stmt sums = {};                   ///< the loop, as it reads the copy
  };
  struct Facts {
    std::vector<Copied> copies = {};
    size_t operand = 0;  ///< the constant, in Tree::operands
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
