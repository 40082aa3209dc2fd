// chunk.h: the step `chunk`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// for i in n → for o in ceildiv(n, size), for k in min(size, n - o * size): the same iterations in the same order,
/// and no code twice. Gives the outer loop, which is parallel if the loop was.
struct Chunk {
  static constexpr StepInfo kInfo{
      .name = "chunk",
      .arguments = "LOOP SIZE",
      .doc = "Runs SIZE iterations at a time, fewer the last time, without a second copy of the body."};
  LoopId loop;
  int64_t size = 1;
  static auto fields(auto& self) { return std::tie(self.loop, self.size); }

  using Made = uint32_t;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
