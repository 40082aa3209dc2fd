// use_fma.h: the step `use_fma`.
#pragma once

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// a * b + c with one rounding, where the block adds a product to its own element. Changes bits.
struct UseFma {
  static constexpr StepInfo kInfo{.name = "use_fma",
                                  .arguments = "BLOCK",
                                  .doc = "Adds a product with one rounding. Changes bits.",
                                  .changes_bits = true};
  BlockId block;
  static auto fields(auto& self) { return std::tie(self.block); }

  using Made = Done;
  using Facts = Update;
  static bool changes_nothing(const Facts& facts) { return fusible_product(facts) == nullptr; }
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
