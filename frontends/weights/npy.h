// npy.h: the head of NumPy's .npy files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/support/dtype.h"

namespace relaxc::frontend {

struct NpyHead {
  std::string fault;  ///< empty: all is well; else continues "the array …"
  bool known_dtype = true;
  uint64_t bytes = 0;  ///< of the head; the elements follow
  DType dtype;
  std::vector<int64_t> shape;
  bool swapped = false;       ///< big-endian
  bool column_major = false;  ///< Fortran's order
};

/// No head that NumPy writes for an array of numbers is longer.
constexpr size_t kLargestNpyHead = 1 << 16;

/// Reads the head of an array from its first bytes (all of them, or kLargestNpyHead). Versions 1 to 3.
NpyHead read_npy_head(std::span<const std::byte> bytes);

/// The elements in row-major order and little-endian, of bytes that are as the head says.
std::vector<std::byte> plain_elements(const NpyHead& head, std::vector<std::byte> elements);

}  // namespace relaxc::frontend
