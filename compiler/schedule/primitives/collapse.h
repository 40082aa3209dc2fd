// collapse.h: the step `collapse`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Two perfectly nested loops become one, whose variable is divided to get theirs. If the outer one is parallel, so
/// is the result, and the inner one's iterations must be independent.
struct Collapse {
  static constexpr StepInfo kInfo{
      .name = "collapse",
      .arguments = "OUTER INNER",
      .doc = "Makes one loop of two directly nested ones, and recovers their variables by division."};
  LoopId outer;
  LoopId inner;
  static auto fields(auto& self) { return std::tie(self.outer, self.inner); }

  using Made = uint32_t;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
