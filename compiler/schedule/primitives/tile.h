// tile.h: the step `tile`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Splits perfectly nested loops into tiles of these sizes, with the loops over tiles outside; what does not fill one
/// is masked.
struct Tile {
  static constexpr StepInfo kInfo{
      .name = "tile",
      .arguments = "LOOPS SIZES",
      .doc =
          "Splits directly nested loops into tiles of these sizes, with the loops over tiles outside; the "
          "remainder is masked."};
  std::vector<uint32_t> loops;
  std::vector<int64_t> sizes;
  static auto fields(auto& self) { return std::tie(self.loops, self.sizes); }

  using Made = Done;
  using Facts = Tree;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
