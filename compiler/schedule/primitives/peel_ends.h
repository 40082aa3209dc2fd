// peel_ends.h: the step `peel_ends`.
#pragma once

#include "compiler/schedule/primitives/step.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

/// for i in n → for i in [begin, end) without the conditions that hold there, and for the other i with them: of the
/// image of a filter, the border alone is asked for. Halide calls it loop partitioning.
struct PeelEnds {
  static constexpr StepInfo kInfo{
      .name = "peel_ends",
      .arguments = "LOOP",
      .doc =
          "Runs the iterations of LOOP in which conditions of branches hold that compare with a multiple of its "
          "variable, without asking for them; the iterations before and after these become a loop of their own."};
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
