// cache_window.h: the step `cache_window`.
#pragma once

#include "compiler/schedule/analysis/window.h"
#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// The copy that cache_window made: its block, and its loop along a row.
struct CachedWindow {
  uint32_t block = 0, along = 0;
};

/// Before `loop`, which is outside of all loops of the window, a copy of what they read of it, in scratch memory:
/// contiguous along `vector`, whose iterations will run `lanes` at a time, and with its border filled in. The
/// block reads the copy.
/// `spatial` and `reduced`: the loops of the result and of the reduction that the window depends on (window_of).
struct CacheWindow {
  static constexpr StepInfo kInfo{
      .name = "cache_window",
      .arguments = "BLOCK LOOP ROW SPATIAL REDUCED LANES",
      .doc =
          "Before LOOP, copies the window of an operand over which the reduction's filter slides to "
          "scratch memory, contiguous along the loop ROW in whole vectors of LANES, its border "
          "filled in. SPATIAL and REDUCED are the loops of the result and of the reduction that the "
          "window is of."};
  BlockId block;
  LoopId loop;
  LoopId vector;
  std::vector<uint32_t> spatial;
  std::vector<uint32_t> reduced;
  int64_t lanes = 1;
  static auto fields(auto& self) {
    return std::tie(self.block, self.loop, self.vector, self.spatial, self.reduced, self.lanes);
  }

  using Made = CachedWindow;
  using Facts = Window;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
