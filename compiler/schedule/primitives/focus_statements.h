// focus_statements.h: the step `focus_statements`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Of the statements that the kernel is a sequence of, those from `begin` to before `end` are the whole kernel for
/// steps that follow. What a step costs grows with what it sees, so a kernel of very many nests goes by sections, the
/// last one first: the places of those before it stay what they were.
struct FocusStatements {
  static constexpr StepInfo kInfo{
      .name = "focus_statements",
      .arguments = "BEGIN END",
      .doc =
          "Applies the following steps to statements BEGIN to END - 1 of the kernel, counted from "
          "0."};
  int64_t begin = 0;
  int64_t end = 0;
  static auto fields(auto& self) { return std::tie(self.begin, self.end); }

  using Made = Done;
  struct Facts {
    Tree kernel;  ///< with no section
    std::vector<Stmt> statements;
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
