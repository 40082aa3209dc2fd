// pair_terms.h: the step `pair_terms`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Two steps of a block's sum of integers, the iterations of `loop`, become one: own += first + second. Exact. What
/// stands side by side in both may then be taken by one instruction.
struct PairTerms {
  static constexpr StepInfo kInfo{
      .name = "pair_terms",
      .arguments = "BLOCK LOOP",
      .doc = "Two steps of a sum of integers, the iterations of LOOP, become one that adds the sum of both."};
  BlockId block;
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.block, self.loop); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
