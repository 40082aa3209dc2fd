// prefetch.h: the step `prefetch`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// With each vector of a vectorized loop that is read from memory, asks for the line that lies `bytes` behind it.
struct Prefetch {
  static constexpr StepInfo kInfo{
      .name = "prefetch",
      .arguments = "LOOP BYTES",
      .doc =
          "With each vector that the vectorized LOOP reads from memory, prefetches the line BYTES after "
          "it."};
  LoopId loop;
  int64_t bytes = 0;
  static auto fields(auto& self) { return std::tie(self.loop, self.bytes); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
