// unfocus.h: the step `unfocus`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Primitives see the whole kernel again, or the section.
struct Unfocus {
  static constexpr StepInfo kInfo{.name = "unfocus",
                                  .arguments = "",
                                  .doc = "Applies the following steps to the whole kernel, or to all of the section."};
  static auto fields(auto&) { return std::tie(); }

  using Made = Done;
  using Facts = bool;
  static bool changes_nothing(const Facts& facts) { return !facts; }
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
