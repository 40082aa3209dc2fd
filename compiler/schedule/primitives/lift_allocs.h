// lift_allocs.h: the step `lift_allocs`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Scratch memory that each iteration of a serial loop has becomes one for all of them.
struct LiftAllocs {
  static constexpr StepInfo kInfo{
      .name = "lift_allocs",
      .arguments = "LOOP",
      .doc = "Hoists allocations of the loop's body out of the loop, so that all iterations share them."};
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.loop); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
