// focus_nests.h: the step `focus_nests`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Primitives see the nests of these blocks of the kernel, which stand one behind the other.
struct FocusNests {
  static constexpr StepInfo kInfo{
      .name = "focus_nests",
      .arguments = "BLOCKS",
      .doc = "Applies the following steps to the nests of these blocks, which must be consecutive."};
  BlockIds blocks;
  static auto fields(auto& self) { return std::tie(self.blocks); }

  using Made = Done;
  struct Facts {
    Tree kernel;  ///< with nothing in focus
    std::vector<Stmt> nests;
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
