// reduce_in_lanes.h: the step `reduce_in_lanes`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// A reduction over `loop` into one element becomes `lanes` partial reductions in a local, which are then joined
/// pairwise. Changes the order of the reduction: the block must carry the annotation `reassociate`.
/// What does not fill `lanes` iterations is done in steps of `vector` lanes, and one by one. `fma`: a sum of products
/// rounds each step once, as with use_fma.
struct ReduceInLanes {
  static constexpr StepInfo kInfo{
      .name = "reduce_in_lanes",
      .arguments = "BLOCK LOOP LANES VECTOR fma|-",
      .doc =
          "Splits a reduction into one element into LANES partial ones, combined pairwise; the remainder "
          "runs by VECTOR and one by one. Needs reassociate.",
      .changes_bits = true};
  BlockId block;
  LoopId loop;
  int64_t lanes = 1;
  int64_t vector = 1;
  bool fma = false;
  static auto fields(auto& self) { return std::tie(self.block, self.loop, self.lanes, self.vector, self.fma); }

  using Made = Done;
  using Facts = Done;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
