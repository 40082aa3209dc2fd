// packing.cpp: see packing.h.
#include "compiler/schedule/packing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "compiler/schedule/winograd_transform.h"

namespace relaxc::schedule {
namespace {

template <size_t Bytes>
void copy_strided(std::byte* to, const std::byte* from, int64_t count, int64_t stride) {
  constexpr auto kBytes = static_cast<int64_t>(Bytes);
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * kBytes, from + i * stride * kBytes, Bytes);
}

/// Copies `count` elements that are `stride` elements apart. It is called as often as a model has weights; with a
/// constant element size, each copy is a single move.
void copy_row(std::byte* to, const std::byte* from, int64_t count, int64_t stride, int64_t element_bytes) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(count * element_bytes));
  } else if (element_bytes == 4) {
    copy_strided<4>(to, from, count, stride);
  } else if (element_bytes == 2) {
    copy_strided<2>(to, from, count, stride);
  } else if (element_bytes == 1) {
    copy_strided<1>(to, from, count, stride);
  } else {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * element_bytes, from + i * stride * element_bytes, static_cast<size_t>(element_bytes));
  }
}

}  // namespace

std::vector<int64_t> Packing::packed_shape() const {
  std::vector<int64_t> dims{(shape[axis] + panel - 1) / panel};
  for (size_t i : order) dims.push_back(shape[i]);
  dims.push_back(panel);
  return dims;
}

std::string Packing::description() const {
  std::string words = words_axis < 0    ? ""
                      : word_bytes == 4 ? fmt::format(" of words along {}", words_axis)
                                        : fmt::format(" of words of {} bytes along {}", word_bytes, words_axis);
  if (pairs) words += " in pairs";
  for (const Taps& taps : filtered) words += fmt::format(" at points of F({}, 3) along {}", taps.results, taps.axis);
  return fmt::format("pack [{}]{} in panels of {} along {}, order {}", fmt::join(shape, ", "), words, panel, axis,
                     fmt::join(order, " "));
}

/// Returns the tensor with adjacent elements along `words_axis` joined to one, the first in the lowest bytes (see
/// words_extent for the last word).
std::vector<std::byte> Packing::as_words(std::span<const std::byte> bytes, int64_t element_bytes) const {
  const auto element = static_cast<size_t>(element_bytes), terms = static_cast<size_t>(word_bytes) / element;
  size_t inner = 1, axis = static_cast<size_t>(words_axis);
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= static_cast<size_t>(shape[i]);
  size_t words = static_cast<size_t>(shape[axis]), extent = static_cast<size_t>(words_extent);
  size_t outer = bytes.size() / (extent * inner * element);
  std::vector<std::byte> out(outer * words * inner * static_cast<size_t>(word_bytes), std::byte{0});
  const size_t whole = extent > terms && !pairs ? extent / terms * terms : extent;
  for (size_t o = 0; o < outer; ++o)
    for (size_t k = 0; k < extent; ++k) {
      const size_t place = k < whole ? k % terms : k - (extent - terms);
      const size_t at = pairs && (place == 1 || place == 2) ? 3 - place : place;
      for (size_t i = 0; i < inner; ++i)
        std::copy_n(bytes.data() + ((o * extent + k) * inner + i) * element, element,
                    out.data() + (((o * words + k / terms) * inner + i) * terms + at) * element);
    }
  return out;
}

std::vector<std::byte> Packing::as_points(std::span<const std::byte> bytes) const {
  std::vector<std::byte> points(bytes.begin(), bytes.end());
  for (size_t i = filtered.size(); i-- > 0;)
    points = at_points(winograd_transform(filtered[i].results), points, filtered[i].inner);
  return points;
}

std::vector<std::byte> Packing::apply(std::span<const std::byte> bytes, int64_t element_bytes) const {
  if (words_axis >= 0) {
    Packing of_words = *this;
    of_words.words_axis = -1;
    return of_words.apply(as_words(bytes, element_bytes), word_bytes);
  }
  if (!filtered.empty()) {
    Packing of_points = *this;
    of_points.filtered.clear();
    return of_points.apply(as_points(bytes), 4);
  }
  std::vector<int64_t> stride(shape.size(), 1), dims = packed_shape();
  for (size_t i = shape.size() - 1; i-- > 0;) stride[i] = stride[i + 1] * shape[i + 1];
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < dims.size(); ++d) rows *= dims[d];
  std::vector<std::byte> out(static_cast<size_t>(rows * panel * element_bytes));
  std::vector<int64_t> at(dims.size() - 1, 0);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t begin = at[0] * panel, from = begin * stride[axis];
    for (size_t j = 0; j < order.size(); ++j) from += at[j + 1] * stride[order[j]];
    copy_row(out.data() + row * panel * element_bytes, bytes.data() + from * element_bytes,
             std::min(panel, shape[axis] - begin), stride[axis], element_bytes);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < dims[d]) break;
      at[d] = 0;
    }
  }
  return out;
}

}  // namespace relaxc::schedule
