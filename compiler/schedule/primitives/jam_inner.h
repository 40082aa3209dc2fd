// jam_inner.h: the step `jam_inner`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// As Jam, but stays around allocations: the loop then runs around whole bodies of the innermost loops.
struct JamInner {
  static constexpr StepInfo kInfo{
      .name = "jam_inner",
      .arguments = "LOOP",
      .doc = "As jam, but LOOP stays outside of locals: it runs around whole bodies of the innermost loops."};
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.loop); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
