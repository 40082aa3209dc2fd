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
          "What LOOP, over blocks of rows, sums of exponentials relative to the maximum of a row is "
          "summed for KEYS scores at a time, relative to the maximum so far, with memory for those "
          "alone. Changes bits.",
      .changes_bits = true};
  LoopId loop;
  int64_t keys = 1;
  static auto fields(auto& self) { return std::tie(self.loop, self.keys); }

  using Made = uint32_t;
  using Facts = std::shared_ptr<SoftmaxRoles>;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// Judgement: the keys of a block. Its scores, of 64 rows, are 64 KB, a part of the second level of cache that leaves
/// room for what they are made of. With 12 heads of 64 and 2,048 queries and keys, blocks of 256 took 87.6 ms in place
/// of 97.7 by whole rows, and 22.3 in place of 23.3 with 1,024 (docs/performance.md), whence the fewest keys of
/// ScheduleOptions::online_softmax.
inline constexpr int64_t kKeysOfBlock = 256;

/// How many scores a row has; null: the loop is around something else.
Expr softmax_keys(const Tree& tree, uint32_t loop);

/// How many keys a block of the nests in `loop`, over blocks of rows, should have; 0: rows are to stay whole, because
/// they have less than `fewest` keys (0: always), or are of something else than a softmax.
int64_t keys_of_block(const Tree& tree, uint32_t loop, int64_t fewest);

}  // namespace relaxc::schedule
