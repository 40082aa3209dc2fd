// inline.h: the step `inline`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// A nest that computes one element a point is computed where it is read instead, and goes away.
struct Inline {
  static constexpr StepInfo kInfo{
      .name = "inline",
      .arguments = "BLOCK",
      .doc = "Computes where it is read what the block's nest computes, and removes the nest."};
  BlockId block;
  static auto fields(auto& self) { return std::tie(self.block); }

  using Made = Done;
  using Facts = Stmt;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
