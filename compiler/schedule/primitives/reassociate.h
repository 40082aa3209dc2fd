// reassociate.h: the step `reassociate`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Allows that the order of a block's reduction changes.
struct Reassociate {
  static constexpr StepInfo kInfo{.name = "reassociate",
                                  .arguments = "BLOCK",
                                  .doc = "Lets the order of the block's reduction change. Changes bits.",
                                  .changes_bits = true};
  BlockId block;
  static auto fields(auto& self) { return std::tie(self.block); }

  using Made = Done;
  using Facts = bool;
  static bool changes_nothing(const Facts& facts) { return facts; }
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
