// block_sum.h: the step `block_sum`.
#pragma once

#include <vector>

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// for i { for j { s = 0; for k in n { s += … } y = f(s) } } → for b in n/size { for i { for j { s = sums[j, i], or 0
/// in the first block; for k in size { s += … } sums[j, i] = s, or y = f(s) in the last } } }, with scratch memory for
/// sums.
struct BlockSum {
  static constexpr StepInfo kInfo{
      .name = "block_sum",
      .arguments = "LOOP SUM SIZE",
      .doc =
          "Runs LOOP once for each block of SIZE iterations of SUM, a loop of the sums inside of it, so that what "
          "a block reads stays in a cache; sums wait in scratch memory for the next block. Changes bits if SUM is "
          "not the outermost loop of the sum, which needs reassociate."};
  LoopId loop, sum;
  int64_t size = 1;
  static auto fields(auto& self) { return std::tie(self.loop, self.sum, self.size); }

  using Made = Done;
  struct Facts {
    BufferRef local = nullptr;          ///< the sum of one iteration
    std::vector<const tir::For*> nest;  ///< LOOP and the loops of the result inside of it
    std::vector<int64_t> extents;       ///< upper bounds of theirs
    std::vector<Stmt> begin, rest;      ///< what precedes the loops of the sum, and what follows them
    Stmt terms;                         ///< the loops of the sum
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
