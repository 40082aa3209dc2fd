// parallel.h: the step `parallel`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Iterations in any order, on any cores. Needs has_independent_iterations.
struct Parallel {
  static constexpr StepInfo kInfo{
      .name = "parallel", .arguments = "LOOP", .doc = "Runs the iterations on several cores."};
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.loop); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
