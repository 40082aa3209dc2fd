// factor_out.h: the step `factor_out`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// The factors of a product by whether they stay the same in a loop; null: there are none.
struct Factors {
  Expr common, rest;
};

/// Factors of what the block sums that stay the same while `loop` runs multiply the sum of that loop instead of each
/// term. Changes bits and marks the block. Gives the block that multiplies, behind the loop. Needs a common_factor.
struct FactorOut {
  static constexpr StepInfo kInfo{
      .name = "factor_out",
      .arguments = "BLOCK LOOP",
      .doc =
          "Moves factors that do not change in LOOP out of the block's sum: they multiply the sum "
          "instead of each term. Changes bits.",
      .changes_bits = true};
  BlockId block;
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.block, self.loop); }

  using Made = uint32_t;
  using Facts = Factors;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// The product of those factors; null: there are none, or no others, or it is not a sum of products of floats.
Expr common_factor(const Tree& tree, uint32_t block, uint32_t loop);

}  // namespace relaxc::schedule
