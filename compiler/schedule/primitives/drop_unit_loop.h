// drop_unit_loop.h: the step `drop_unit_loop`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// A loop of one iteration goes away; its variable becomes its first value.
struct DropUnitLoop {
  static constexpr StepInfo kInfo{
      .name = "drop_unit_loop", .arguments = "LOOP", .doc = "Removes a loop of one iteration."};
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.loop); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
