// pad_to.h: the step `pad_to`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// The loop runs a multiple of so many times; what there is too much of does nothing.
struct PadTo {
  static constexpr StepInfo kInfo{.name = "pad_to",
                                  .arguments = "LOOP MULTIPLE",
                                  .doc = "LOOP runs a multiple of so many times; what is too much is masked."};
  LoopId loop;
  int64_t multiple = 1;
  static auto fields(auto& self) { return std::tie(self.loop, self.multiple); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
