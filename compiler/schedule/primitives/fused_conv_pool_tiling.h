// fused_conv_pool_tiling.h: the step `fused_conv_pool_tiling`.
#pragma once

#include <memory>

#include "compiler/schedule/primitives/step.h"
#include "targets/target.h"

namespace relaxc::schedule {

class MapWindows;

/// A reduction of windows of a map that the kernel computes itself becomes a loop over blocks of `rows` rows of the
/// result, which begin with the rows of the map that they need. Gives the loop.
struct FusedConvPoolTiling {
  static constexpr StepInfo kInfo{
      .name = "fused_conv_pool_tiling",
      .arguments = "ROWS",
      .doc =
          "A pool behind a convolution runs for ROWS rows at a time, after the rows of the map that "
          "its windows cover, with memory for those alone."};
  int64_t rows = 1;
  static auto fields(auto& self) { return std::tie(self.rows); }

  using Made = uint32_t;
  using Facts = std::shared_ptr<MapWindows>;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// How many rows of the result a block should have, where a kernel is a reduction of windows of a map that it computes
/// itself; 0: it is none, or blocks gain nothing.
int64_t rows_of_window_block(const Tree& tree, const Target& target);

}  // namespace relaxc::schedule
