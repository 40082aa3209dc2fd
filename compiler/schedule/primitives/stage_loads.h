// stage_loads.h: the step `stage_loads`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Loads in the taken arm of a select whose other arm is a number go through a local scalar; the condition becomes a
/// branch, in which subscripts lose the clamps that it implies. So do the loads that depend on the variable of `loop`
/// (0: no others).
struct StageLoads {
  static constexpr StepInfo kInfo{.name = "stage_loads",
                                  .arguments = "BLOCK LOOP|-",
                                  .doc =
                                      "Loads what is read under a condition, and what changes along LOOP, into locals "
                                      "first; conditions become branches."};
  BlockId block;
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.block, self.loop); }

  using Made = Done;
  using Facts = std::vector<Expr>;
  static bool changes_nothing(const Facts& facts) { return facts.empty(); }
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
