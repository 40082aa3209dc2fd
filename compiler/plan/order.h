// order.h: which of the orders that a program allows takes the least memory.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace relaxc::plan {

/// What runs as a whole, anywhere behind the steps of `after`.
struct Step {
  std::vector<uint32_t> after;    ///< indices of steps; all are smaller than its own
  std::vector<uint32_t> touches;  ///< indices of memories, each once
  /// Memories of one size: the second may take the place of the first, if that ends here and the second begins here.
  std::vector<std::pair<uint32_t, uint32_t>> in_place;
};

/// Memory that counts from the first to the last step that touches it.
struct Memory {
  int64_t bytes = 0;
  bool before = false, after = false;  ///< it counts from before the first step on; until after the last
};

/// The largest sum of memory that counts at one step when the steps run in this order.
int64_t peak_of(const std::vector<Step>& steps, const std::vector<Memory>& memories,
                const std::vector<uint32_t>& order);

/// An order whose peak is below that of the steps as they are; nothing if none was found.
std::optional<std::vector<uint32_t>> find_lower_order(const std::vector<Step>& steps,
                                                      const std::vector<Memory>& memories);

}  // namespace relaxc::plan
