// distribute.h: the step `distribute`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// for i in n → parallel for t in min(tasks, n), for k in (the part of n that is t's). Gives the inner loop.
struct Distribute {
  static constexpr StepInfo kInfo{
      .name = "distribute",
      .arguments = "LOOP TASKS",
      .doc = "Distributes the iterations of LOOP among at most TASKS tasks, each of which does its own in order."};
  LoopId loop;
  int64_t tasks = 2;
  static auto fields(auto& self) { return std::tie(self.loop, self.tasks); }

  using Made = uint32_t;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
