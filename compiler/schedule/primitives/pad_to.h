// pad_to.h: the step `pad_to`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Rounds the extent of a loop up to a multiple and masks the iterations that are added.
struct PadTo {
  static constexpr StepInfo kInfo{
      .name = "pad_to",
      .arguments = "LOOP MULTIPLE",
      .doc = "Rounds the extent of LOOP up to a multiple of MULTIPLE and masks the iterations that are added."};
  LoopId loop;
  int64_t multiple = 1;
  static auto fields(auto& self) { return std::tie(self.loop, self.multiple); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
