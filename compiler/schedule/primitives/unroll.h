// unroll.h: the step `unroll`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Repeats the body for each iteration in straight-line code.
struct Unroll {
  static constexpr StepInfo kInfo{
      .name = "unroll", .arguments = "LOOP", .doc = "Repeats the body for each iteration in straight-line code."};
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.loop); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
