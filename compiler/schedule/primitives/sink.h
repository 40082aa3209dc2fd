// sink.h: the step `sink`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// The same, but stays around allocations: the loop then runs around whole bodies of the innermost loops.
struct Sink {
  static constexpr StepInfo kInfo{.name = "sink", .arguments = "LOOP", .doc = "As jam, but not past locals."};
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.loop); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
