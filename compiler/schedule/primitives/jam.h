// jam.h: the step `jam`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Pushes a loop of independent iterations and constant extent inwards around the innermost statements, past
/// sequences, allocations and inner loops (unroll-and-jam). Locals that differ between its iterations get a dim.
struct Jam {
  static constexpr StepInfo kInfo{
      .name = "jam",
      .arguments = "LOOP",
      .doc =
          "Moves the loop inwards around single statements, past sequences, locals and loops "
          "(unroll-and-jam)."};
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.loop); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// What the loop becomes. \param past_allocs  it moves past locals, which get a dim where its iterations differ
Stmt jammed(Context& context, const tir::For& loop, bool past_allocs);

}  // namespace relaxc::schedule
