// simplify_subscripts.h: the step `simplify_subscripts`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Simplifies the subscripts of `buffer` by what the loops around say of their variables.
struct SimplifySubscripts {
  static constexpr StepInfo kInfo{
      .name = "simplify_subscripts",
      .arguments = "BUFFER",
      .doc = "Simplifies subscripts of the buffer by the ranges of the variables of the loops around."};
  BufferRef buffer = nullptr;
  static auto fields(auto& self) { return std::tie(self.buffer); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
