// decompose_reduction.h: the step `decompose_reduction`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// The init of a reduction becomes a block of its own before its reduction loops (`loop`: the outermost of them).
struct DecomposeReduction {
  static constexpr StepInfo kInfo{.name = "decompose_reduction",
                                  .arguments = "BLOCK LOOP",
                                  .doc =
                                      "The block's init becomes a block of its own before LOOP, the outermost of the "
                                      "reduction's loops; an earlier nest that stores the same values is removed."};
  BlockId block;
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.block, self.loop); }

  using Made = Done;
  struct Facts {
    arith::Substitution axes;  ///< what the axes of the block are bound to
    Stmt init;
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// What the block adds to its sums, in variables of loops, as the step would leave it; illegal where the step is. The
/// tree stays as it is.
Legal<Stmt> update_in_loops(const Tree& tree, BlockId block, LoopId loop);

}  // namespace relaxc::schedule
