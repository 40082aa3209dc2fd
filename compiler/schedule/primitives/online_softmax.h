// online_softmax.h: the step `online_softmax`.
#pragma once

#include <memory>

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

class SoftmaxRoles;

/// The nests in `loop`, which sum exponentials of scores relative to the maximum of their row, become a loop over
/// blocks of `keys` scores with the maximum so far, around nests with memory for one block. Changes the order of sums
/// and their rounding (online_softmax.cpp has the bound). Gives the loop over blocks.
struct OnlineSoftmax {
  static constexpr StepInfo kInfo{
      .name = "online_softmax",
      .arguments = "LOOP KEYS",
      .doc =
          "Makes LOOP, over blocks of rows, sum exponentials for KEYS scores at a time, relative to the "
          "maximum so far, with memory only for those. Changes "
          "bits.",
      .changes_bits = true};
  LoopId loop;
  int64_t keys = 1;
  static auto fields(auto& self) { return std::tie(self.loop, self.keys); }

  using Made = uint32_t;
  using Facts = std::shared_ptr<SoftmaxRoles>;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// How many scores a row of a softmax has in the nests in `loop`, over blocks of rows; null: they are of something
/// else.
Expr softmax_keys(const Tree& tree, uint32_t loop);

}  // namespace relaxc::schedule
