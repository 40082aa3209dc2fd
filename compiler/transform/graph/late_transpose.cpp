// late_transpose.cpp: moves elements, row by row of the result.
//
// The innermost axis of the result may jump in the source, so one row reads a cache line for every element. Rows that
// are neighbours read the same lines, so a handful of them is made together.
#include "compiler/transform/graph/late_transpose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace relaxc {
namespace {

/// Extents of the result and, for each of its axes, how many elements apart its neighbours are in the source.
struct Order {
  std::vector<int64_t> shape, strides;
};

Order order_of(const std::vector<int64_t>& shape, const std::vector<size_t>& axes) {
  std::vector<int64_t> apart(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) apart[i - 1] = apart[i] * shape[i];
  Order order;
  for (size_t axis : axes) {
    order.shape.push_back(shape[axis]);
    order.strides.push_back(apart[axis]);
  }
  return order;
}

/// Elements of a fixed size, so that a copy is one move.
template <typename T>
void move_elements(const Order& order, const std::byte* from, std::byte* to) {
  constexpr int64_t kTogether = 16;
  size_t rank = order.shape.size();
  int64_t rows = order.shape[rank - 2], columns = order.shape[rank - 1];
  int64_t row_stride = order.strides[rank - 2], column_stride = order.strides[rank - 1];
  std::vector<int64_t> index(rank - 2, 0);
  int64_t outer = 1;
  for (size_t i = 0; i + 2 < rank; ++i) outer *= order.shape[i];
  for (int64_t n = 0; n < outer; ++n) {
    int64_t base = 0;
    for (size_t i = 0; i < index.size(); ++i) base += index[i] * order.strides[i];
    for (int64_t first = 0; first < rows; first += kTogether)
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t r = first; r < std::min(first + kTogether, rows); ++r)
          std::memcpy(to + (r * columns + c) * static_cast<int64_t>(sizeof(T)),
                      from + (base + r * row_stride + c * column_stride) * static_cast<int64_t>(sizeof(T)), sizeof(T));
    to += rows * columns * static_cast<int64_t>(sizeof(T));
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < order.shape[i]) break;
      index[i] = 0;
    }
  }
}

struct Wide {
  std::byte bytes[16];
};

std::vector<std::byte> moved(Order order, int64_t size, std::span<const std::byte> from) {
  std::vector<std::byte> to(from.size());
  while (order.shape.size() < 2) {
    order.shape.insert(order.shape.begin(), 1);
    order.strides.insert(order.strides.begin(), 0);
  }
  if (size == 1) move_elements<uint8_t>(order, from.data(), to.data());
  if (size == 2) move_elements<uint16_t>(order, from.data(), to.data());
  if (size == 4) move_elements<uint32_t>(order, from.data(), to.data());
  if (size == 8) move_elements<uint64_t>(order, from.data(), to.data());
  if (size == 16) move_elements<Wide>(order, from.data(), to.data());
  return to;
}

}  // namespace

relax::ConstantRef late_transpose(const relax::ConstantRef& source, const std::vector<size_t>& axes) {
  Order order = order_of(source->shape(), axes);
  std::vector<int64_t> shape = order.shape;
  auto apply = [order, size = source->dtype().bytes()](std::span<const std::byte> from) {
    return moved(order, size, from);
  };
  return relax::ConstantData::transformed(
      source->dtype(), std::move(shape), source,
      {fmt::format("transpose {} to axes {}", fmt::join(source->shape(), "x"), fmt::join(axes, ",")), apply});
}

}  // namespace relaxc
