// prefetch_iterations.h: the step `prefetch_iterations`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// With each iteration of a serial loop, asks for the lines that a later one reads.
struct PrefetchIterations {
  static constexpr StepInfo kInfo{
      .name = "prefetch_iterations",
      .arguments = "LOOP ITERATIONS",
      .doc =
          "With each iteration of the serial LOOP, prefetches the lines that the one ITERATIONS after it reads, of "
          "operands that move by a line or more with each iteration."};
  LoopId loop;
  int64_t iterations = 0;
  static auto fields(auto& self) { return std::tie(self.loop, self.iterations); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
