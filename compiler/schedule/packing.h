// packing.h: constants in the order in which a kernel reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/tir/buffer.h"

namespace relaxc::schedule {

/// An operand in panels: axis `axis` of a tensor [d0, d1, …] is cut into panels of `panel` elements, which become the
/// last dim; the number of the panel is the first. The other axes keep their order, or take that of `order`. What a
/// last panel lacks is zero.
struct Packing {
  std::vector<int64_t> shape;  ///< of the tensor, as the kernel sees it
  size_t axis = 0;
  int64_t panel = 1;
  std::vector<size_t> order;  ///< the other axes, outermost first
  /// What is side by side along this axis is one integer of `word_bytes`: `shape` counts words along it. -1: no.
  int64_t words_axis = -1;
  /// Elements along it. Where they are not a multiple of a word's, the last of several words ends with them, and what
  /// it shares with the word before is zero; a single word ends with zeros.
  int64_t words_extent = 0;
  int64_t word_bytes = 4;
  /// The second and the third byte of each word are swapped (arith::PairDot), and every last word ends with zeros.
  bool pairs = false;
  /// An axis along which the three taps of float32 filters are taken at the points of F(results, 3) (winograd.h).
  struct Taps {
    size_t axis = 0;
    int64_t inner = 1;  ///< elements inside of the axis, once those further in are at their points
    int64_t results = 0;
  };
  std::vector<Taps> filtered;  ///< the outermost first; `shape` counts points

  std::vector<int64_t> packed_shape() const;
  /// Unique for one way of packing: "pack [64, 3, 3, 3] in panels of 14 along 0, order 2 3 1".
  std::string description() const;
  /// `element_bytes`: of the source.
  std::vector<std::byte> apply(std::span<const std::byte> bytes, int64_t element_bytes) const;
  /// The packed tensor's dtype.
  DType packed_dtype(DType source) const {
    return words_axis < 0 ? source : DType::i(static_cast<uint8_t>(word_bytes * 8));
  }

 private:
  std::vector<std::byte> as_words(std::span<const std::byte> bytes, int64_t element_bytes) const;
  std::vector<std::byte> as_points(std::span<const std::byte> bytes) const;
};

/// A kernel's parameter that is to be packed, and what it has become.
struct PackedParam {
  tir::BufferRef param = nullptr, packed = nullptr;
  Packing packing;
};

}  // namespace relaxc::schedule
