// packing.h: how a constant is laid out in the order in which a kernel reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/tir/buffer.h"

namespace relaxc::schedule {

/// Divides axis `axis` of a tensor [d0, d1, …] into panels of `panel` elements. In the packed tensor the index of the
/// panel is the first dim, the other axes follow in the order of `order`, and the index in the panel is the last dim.
/// The last panel is padded with zeros.
struct Packing {
  std::vector<int64_t> shape;  ///< of the tensor in the kernel, before panels
  size_t axis = 0;
  int64_t panel = 1;
  std::vector<size_t> order;  ///< the other axes, outermost first
  /// Adjacent elements along this axis are joined into integers of `word_bytes`; `shape` counts these. -1: none.
  int64_t words_axis = -1;
  /// The number of elements along `words_axis`. If it is not a multiple of a word's, the last word overlaps the one
  /// before it, with zeros in place of the elements that both hold; a single word is padded with zeros.
  int64_t words_extent = 0;
  int64_t word_bytes = 4;
  /// The second and the third byte of each word are swapped (arith::PairDot), and the last word is padded with zeros.
  bool pairs = false;
  /// An axis along which three taps of float32 filters are transformed to the points of F(results, 3) (winograd.h).
  struct Taps {
    size_t axis = 0;
    int64_t inner = 1;  ///< product of the dims after the axis, when axes further in are already transformed
    int64_t results = 0;
  };
  std::vector<Taps> filtered;  ///< the outermost first; `shape` counts points

  std::vector<int64_t> packed_shape() const;
  /// A text that identifies this packing: "pack [64, 3, 3, 3] in panels of 14 along 0, order 2 3 1".
  std::string description() const;
  /// Packs the tensor's bytes. `element_bytes`: the size of an element of the source.
  std::vector<std::byte> apply(std::span<const std::byte> bytes, int64_t element_bytes) const;
  /// The packed tensor's dtype.
  DType packed_dtype(DType source) const {
    return words_axis < 0 ? source : DType::i(static_cast<uint8_t>(word_bytes * 8));
  }

 private:
  std::vector<std::byte> as_words(std::span<const std::byte> bytes, int64_t element_bytes) const;
  std::vector<std::byte> as_points(std::span<const std::byte> bytes) const;
};

/// A kernel's parameter whose argument the caller must pack, and the parameter that replaces it.
struct PackedParam {
  tir::BufferRef param = nullptr, packed = nullptr;
  Packing packing;
};

}  // namespace relaxc::schedule
