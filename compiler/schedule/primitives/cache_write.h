// cache_write.h: the step `cache_write`.
#pragma once

#include "compiler/schedule/analysis/region.h"
#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// What `loop` stores to the buffer goes to scratch memory, and from there to the buffer when the loop has ended.
struct CacheWrite {
  static constexpr StepInfo kInfo{
      .name = "cache_write",
      .arguments = "BUFFER LOOP",
      .doc =
          "Makes LOOP store to scratch memory instead of the buffer, and copies that to the buffer after "
          "LOOP."};
  BufferRef buffer = nullptr;
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.buffer, self.loop); }

  using Made = Done;
  using Facts = Region;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
