// peel_ends.h: the step `peel_ends`.
#pragma once

#include "compiler/schedule/primitives/step.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

/// for i in n → for i in [begin, end) without the conditions that hold there, and for the other i with them: a filter
/// that slides over an image then checks its subscripts at the border alone. Halide calls it loop partitioning.
struct PeelEnds {
  static constexpr StepInfo kInfo{
      .name = "peel_ends",
      .arguments = "LOOP",
      .doc =
          "Runs the iterations of LOOP in which all linear conditions on its variable hold without checking them; the "
          "iterations before and after these become a loop of their own, with the conditions."};
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.loop); }

  using Made = Copies;
  struct Facts {
    std::vector<Expr> conditions;  ///< that hold from `begin` on
    Expr begin, count;             ///< of the iterations in which they do
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
