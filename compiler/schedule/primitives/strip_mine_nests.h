// strip_mine_nests.h: the step `strip_mine_nests`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// A loop around several nests is strip-mined by `rows`, and the inner loop is distributed over the nests.
struct StripMineNests {
  static constexpr StepInfo kInfo{
      .name = "strip_mine_nests",
      .arguments = "LOOP ROWS",
      .doc = "Strip-mines LOOP, which contains several nests: each nest runs for ROWS iterations at a time."};
  LoopId loop;
  int64_t rows = 2;
  static auto fields(auto& self) { return std::tie(self.loop, self.rows); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
