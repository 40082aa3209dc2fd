// cache_read.h: the step `cache_read`.
#pragma once

#include "compiler/schedule/analysis/region.h"
#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// What `loop` reads of the buffer is copied before it to scratch memory, where it is contiguous.
struct CacheRead {
  static constexpr StepInfo kInfo{.name = "cache_read",
                                  .arguments = "BUFFER LOOP",
                                  .doc =
                                      "Copies what LOOP reads of the buffer to contiguous scratch memory before "
                                      "LOOP."};
  BufferRef buffer = nullptr;
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.buffer, self.loop); }

  using Made = uint32_t;  ///< the innermost loop of the copy
  using Facts = Region;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
