// order.h: finds an order of steps that takes less memory.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace relaxc::plan {

/// A step, which runs as a whole after all steps in `after`.
struct Step {
  std::vector<uint32_t> after;    ///< indices of steps; all are smaller than its own
  std::vector<uint32_t> touches;  ///< indices of memories, each once
  /// Memories of one size: the second may overwrite the first, if this step is the first's last and the second's first.
  std::vector<std::pair<uint32_t, uint32_t>> in_place;
};

/// Memory that is live from the first to the last step that touches it.
struct Memory {
  int64_t bytes = 0;
  bool before = false, after = false;  ///< live already before the first step; still live after the last
};

/// Returns the largest sum of live memory, in bytes, at a step when the steps run in this order.
int64_t peak_of(const std::vector<Step>& steps, const std::vector<Memory>& memories,
                const std::vector<uint32_t>& order);

/// Returns an order whose peak is below that of the steps as they are; nothing if none was found.
std::optional<std::vector<uint32_t>> find_lower_order(const std::vector<Step>& steps,
                                                      const std::vector<Memory>& memories);

}  // namespace relaxc::plan
