// online_softmax.h: the step `online_softmax`.
#pragma once

#include <memory>

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

class SoftmaxPlan;

/// The nests in `loop`, which sum powers of scores relative to the maximum of their row, become a loop over blocks of
/// `keys` scores with the maximum so far, around nests with memory for one block. Changes the order of sums and their
/// rounding (online_softmax.cpp has the bound). Gives the loop over blocks.
struct OnlineSoftmax {
  static constexpr StepInfo kInfo{
      .name = "online_softmax",
      .arguments = "LOOP KEYS",
      .doc =
          "What LOOP, over blocks of rows, sums of powers relative to the maximum of a row is "
          "summed for KEYS scores at a time, relative to the maximum so far, with memory for those "
          "alone. Changes bits.",
      .changes_bits = true};
  LoopId loop;
  int64_t keys = 1;
  static auto fields(auto& self) { return std::tie(self.loop, self.keys); }

  using Made = uint32_t;
  using Facts = std::shared_ptr<SoftmaxPlan>;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

inline constexpr int64_t kKeysOfBlock = 256;  ///< its scores, of 64 rows, are 64 KB

/// How many scores a row has; null: the loop is around something else.
Expr softmax_keys(const Tree& tree, uint32_t loop);

/// How many keys a block of the nests in `loop`, over blocks of rows, should have; 0: rows are to stay whole, because
/// they have less than `fewest` keys (0: always), or are of something else than a softmax.
int64_t keys_of_block(const Tree& tree, uint32_t loop, int64_t fewest);

}  // namespace relaxc::schedule
