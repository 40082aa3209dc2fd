// split_overlapped.h: the step `split_overlapped`.
#pragma once

#include "compiler/schedule/primitives/split.h"

namespace relaxc::schedule {

/// for i in n → for o in ceil(n/factor), for k in factor at i = min(o * factor, n - factor) + k: the last tile ends
/// with the loop, and repeats iterations of the one before. Fewer iterations than a tile has are the tail, a loop of
/// their own, and so are the last ones where no more than `rest` of them are left; there is no tail where n is known to
/// be enough and `rest` is 0. Halide calls it TailStrategy::ShiftInwards.
struct SplitOverlapped {
  static constexpr StepInfo kInfo{
      .name = "split_overlapped",
      .arguments = "LOOP FACTOR REST",
      .doc =
          "Splits a loop into one over tiles and one of FACTOR iterations; the last tile begins early enough to be "
          "whole, and repeats iterations. Fewer than FACTOR iterations are a loop of their own, as are the last ones "
          "where up to REST are left."};
  LoopId loop;
  int64_t factor = 1;
  int64_t rest = 0;  ///< less than `factor`
  static auto fields(auto& self) { return std::tie(self.loop, self.factor, self.rest); }

  using Made = SplitLoops;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
