// reverse_compute_at.h: the step `reverse_compute_at`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Moves the nest around `block` (an element-wise consumer of what `loop` computes at the same index) to the end of
/// the body of `loop`; `axes` are the loops around `loop` and it itself that its own loops run with.
struct ReverseComputeAt {
  static constexpr StepInfo kInfo{
      .name = "reverse_compute_at",
      .arguments = "BLOCK LOOP AXES",
      .doc =
          "Moves an element-wise consumer to the end of LOOP, right after what it reads; AXES are "
          "the loops around LOOP that become the consumer's."};
  BlockId block;
  LoopId loop;
  std::vector<uint32_t> axes;
  static auto fields(auto& self) { return std::tie(self.block, self.loop, self.axes); }

  using Made = Done;
  struct Facts {
    Stmt nest, moved;  ///< the consumer as it is, and as it is to be in the loop
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
