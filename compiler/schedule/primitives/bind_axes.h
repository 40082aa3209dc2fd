// bind_axes.h: the step `bind_axes`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Replaces the axes of every block without init by what they are bound to, and lets the block have none.
struct BindAxes {
  static constexpr StepInfo kInfo{.name = "bind_axes",
                                  .arguments = "",
                                  .doc = "Replaces the axes of blocks by the loop variables that they are bound to."};
  static auto fields(auto&) { return std::tie(); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
