// npy.h: reads the head of NumPy's .npy files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/support/dtype.h"

namespace relaxc::frontend {

struct NpyHead {
  std::string fault;  ///< empty if the head is valid; else the rest of a message that starts with "the array"
  bool known_dtype = true;
  uint64_t bytes = 0;  ///< size of the head; the elements follow it
  DType dtype;
  std::vector<int64_t> shape;
  bool swapped = false;       ///< big-endian
  bool column_major = false;  ///< Fortran order
};

/// No head that NumPy writes for an array of numbers is longer, in bytes.
constexpr size_t kLargestNpyHead = 1 << 16;

/// Reads the head from an array's first bytes (all of them, or kLargestNpyHead). Supports versions 1 to 3.
NpyHead read_npy_head(std::span<const std::byte> bytes);

/// Converts elements that are stored as the head says to row-major order and little-endian.
std::vector<std::byte> plain_elements(const NpyHead& head, std::vector<std::byte> elements);

}  // namespace relaxc::frontend
