// packing.cpp: see packing.h.
#include "compiler/schedule/packing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

namespace relaxc::schedule {

std::vector<int64_t> Packing::packed_shape() const {
  std::vector<int64_t> dims{(shape[axis] + panel - 1) / panel};
  for (size_t i : order) dims.push_back(shape[i]);
  dims.push_back(panel);
  return dims;
}

std::string Packing::description() const {
  std::string words = words_axis < 0 ? "" : fmt::format(" of words along {}", words_axis);
  return fmt::format("pack [{}]{} in panels of {} along {}, order {}", fmt::join(shape, ", "), words, panel, axis,
                     fmt::join(order, " "));
}

/// The same tensor with four neighbours along `words_axis` in one element, the first in the lowest byte.
std::vector<std::byte> Packing::as_words(std::span<const std::byte> bytes) const {
  size_t inner = 1, count = bytes.size() / 4;
  for (size_t i = static_cast<size_t>(words_axis) + 1; i < shape.size(); ++i) inner *= static_cast<size_t>(shape[i]);
  std::vector<std::byte> out(bytes.size());
  for (size_t i = 0; i < count; ++i)
    for (size_t byte = 0; byte < 4; ++byte) out[i * 4 + byte] = bytes[(i / inner * 4 + byte) * inner + i % inner];
  return out;
}

std::vector<std::byte> Packing::apply(std::span<const std::byte> bytes, int64_t element_bytes) const {
  if (words_axis >= 0) {
    Packing of_words = *this;
    of_words.words_axis = -1;
    return of_words.apply(as_words(bytes), 4);
  }
  std::vector<int64_t> stride(shape.size(), 1), dims = packed_shape();
  for (size_t i = shape.size() - 1; i-- > 0;) stride[i] = stride[i + 1] * shape[i + 1];
  size_t size = static_cast<size_t>(element_bytes);
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::vector<std::byte> out(static_cast<size_t>(count) * size);
  std::vector<int64_t> at(dims.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t along = at[0] * panel + at.back(), from = along * stride[axis];
    for (size_t j = 0; j < order.size(); ++j) from += at[j + 1] * stride[order[j]];
    if (along < shape[axis])
      std::memcpy(out.data() + static_cast<size_t>(i) * size, bytes.data() + static_cast<size_t>(from) * size, size);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++at[d] < dims[d]) break;
      at[d] = 0;
    }
  }
  return out;
}

}  // namespace relaxc::schedule
