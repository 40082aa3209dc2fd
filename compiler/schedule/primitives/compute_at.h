// compute_at.h: the step `compute_at`.
#pragma once

#include "compiler/schedule/analysis/region.h"
#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// The nest around `block`, which computes memory of this kernel's own that only `loop` reads, goes: each iteration
/// of `loop` begins with the part of it that it reads.
struct ComputeAt {
  static constexpr StepInfo kInfo{
      .name = "compute_at",
      .arguments = "BLOCK LOOP",
      .doc =
          "Removes the nest of a block that computes a temporary; each iteration of LOOP, its only "
          "reader, starts by computing the part that it needs."};
  BlockId block;
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.block, self.loop); }

  using Made = Done;
  struct Facts {
    Stmt nest;
    Region region;
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
