// split.h: the step `split`.
#pragma once

#include "compiler/schedule/primitives/step.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

/// The loops that a split made; 0: there is none.
struct SplitLoops {
  uint32_t outer = 0, inner = 0, tail = 0;
  Copies copies;  ///< what the tail has in place of what is in the body
};

/// for i in n → for o in n/factor, for k in factor; see Tail for the rest, which there is none of where n is known
/// to be a multiple.
struct Split {
  static constexpr StepInfo kInfo{
      .name = "split",
      .arguments = "LOOP FACTOR masked|peeled",
      .doc =
          "Splits a loop into one over tiles and one of FACTOR iterations; the remainder is masked, or peeled "
          "into a loop of its own."};
  LoopId loop;
  int64_t factor = 1;
  Tail tail = Tail::kPeel;
  static auto fields(auto& self) { return std::tie(self.loop, self.factor, self.tail); }

  using Made = SplitLoops;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
