// row_steps.h: the step `row_steps`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Of a loop around several nests: `rows` iterations of each nest at a time.
struct RowSteps {
  static constexpr StepInfo kInfo{
      .name = "row_steps",
      .arguments = "LOOP ROWS",
      .doc = "Of a loop around several nests, each nest runs for ROWS iterations at a time."};
  LoopId loop;
  int64_t rows = 2;
  static auto fields(auto& self) { return std::tie(self.loop, self.rows); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
