// vectorize.h: the step `vectorize`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Runs the iterations at once, in the lanes of vectors.
struct Vectorize {
  static constexpr StepInfo kInfo{
      .name = "vectorize", .arguments = "LOOP", .doc = "Runs the iterations at once, in the lanes of vectors."};
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.loop); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
