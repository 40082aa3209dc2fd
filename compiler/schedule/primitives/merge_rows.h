// merge_rows.h: the step `merge_rows`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Two nests one after the other over the same rows become one loop over rows, wherever no row depends on another;
/// `first` and `second` are their row loops (row_loop). Needs can_merge_rows.
struct MergeRows {
  static constexpr StepInfo kInfo{.name = "merge_rows",
                                  .arguments = "FIRST SECOND",
                                  .doc = "Fuses two consecutive nests over the same rows into one loop over rows."};
  LoopId first;
  LoopId second;
  static auto fields(auto& self) { return std::tie(self.first, self.second); }

  using Made = Done;
  struct Facts {
    const tir::Seq* around = nullptr;  ///< what the nests are in, and where the first one does
    size_t place = 0;
    Stmt both;
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// The loop over the rows of a nest, inside of views and loops of one iteration; 0: it has none.
uint32_t row_loop(Context& context, Stmt s);

}  // namespace relaxc::schedule
