// fuse.h: the step `fuse`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Two perfectly nested loops become one. Accesses `x[…, i + c, j + d, …]` of compact buffers whose dim at j is the
/// inner extent see the two dims as one, through a view. Needs can_fuse, where conditions may be.
struct Fuse {
  static constexpr StepInfo kInfo{
      .name = "fuse",
      .arguments = "OUTER INNER",
      .doc =
          "Makes one loop of two directly nested ones, if their axes are contiguous in all that "
          "they access."};
  LoopId outer;
  LoopId inner;
  static auto fields(auto& self) { return std::tie(self.outer, self.inner); }

  using Made = uint32_t;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
