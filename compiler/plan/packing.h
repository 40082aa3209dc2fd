// packing.h: storage assignment for sizes that are numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace relaxc::plan {

/// A rectangle: `size` bytes over the time `first` .. `last` (inclusive).
struct Rectangle {
  int64_t size = 0;
  uint32_t first = 0, last = 0;
  /// Index of another one that ends when this one begins, and that this one may overlap if it begins at least
  /// `distance` bytes before it or, with `behind`, after it; -1: none.
  int over = -1;
  int64_t distance = 0;
  bool behind = false;
};

struct Packing {
  std::vector<int64_t> offsets;
  int64_t height = 0;
};

/// Returns offsets at which rectangles that share a time do not overlap, or only as `over` allows. Sizes and distances
/// must be multiples of the alignment.
Packing pack(const std::vector<Rectangle>& rectangles);

}  // namespace relaxc::plan
