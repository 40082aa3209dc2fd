// scalar_replace.h: the step `scalar_replace`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// In the body of `loop`, one element of `buffer` is computed and used, always at one index: it becomes a local
/// scalar. `keep`: the element is stored to memory at the end as well.
struct ScalarReplace {
  static constexpr StepInfo kInfo{.name = "scalar_replace",
                                  .arguments = "BUFFER LOOP drop|store",
                                  .doc =
                                      "Keeps the one element of BUFFER that an iteration of LOOP updates in a "
                                      "register; the iteration ends by storing it or, "
                                      "if nothing else reads it, dropping it."};
  BufferRef buffer = nullptr;
  LoopId loop;
  bool drop = true;
  static auto fields(auto& self) { return std::tie(self.buffer, self.loop, self.drop); }

  using Made = Done;
  using Facts = tir::Indices;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
