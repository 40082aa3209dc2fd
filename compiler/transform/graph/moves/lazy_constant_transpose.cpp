// lazy_constant_transpose.cpp: transposes constants, tile by tile of the result.
//
// The innermost axis of the result may be strided in the source, so that a row reads a cache line for every element,
// which the rows next to it need again. A tile is read along the axis that is contiguous in the source and written
// along the one that is contiguous in the result. It is buffered in between: extents are often powers of two, and lines
// that far apart would evict each other from the cache before they are full.
#include "compiler/transform/graph/moves/lazy_constant_transpose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace relaxc {
namespace {

/// The result's shape and, for each of its axes, how many elements neighbours are apart in the source.
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

/// Moves elements of a size that is fixed at compile time, so that a copy of one is one move.
template <typename T>
class Moving {
 public:
  Moving(const Order& order, const std::byte* from, std::byte* to)
      : rows_(order.shape.end()[-2]),
        columns_(order.shape.end()[-1]),
        row_stride_(order.strides.end()[-2]),
        column_stride_(order.strides.end()[-1]),
        from_(from),
        to_(to) {}

  /// Copies a matrix of the result, which starts at element `base` of the source and at element `at` of the result.
  void matrix(int64_t base, int64_t at) {
    for (int64_t row = 0; row < rows_; row += kTile)
      for (int64_t column = 0; column < columns_; column += kTile)
        tile(base + row * row_stride_ + column * column_stride_, at + row * columns_ + column,
             std::min(kTile, rows_ - row), std::min(kTile, columns_ - column));
  }

 private:
  static constexpr int64_t kTile = 32;

  void tile(int64_t base, int64_t at, int64_t rows, int64_t columns) {
    T held[kTile * kTile];
    auto read = [&](int64_t r, int64_t c) {
      std::memcpy(held + r * kTile + c, from_ + (base + r * row_stride_ + c * column_stride_) * kBytes, sizeof(T));
    };
    if (row_stride_ < column_stride_) {
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t r = 0; r < rows; ++r) read(r, c);
    } else {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) read(r, c);
    }
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(to_ + (at + r * columns_) * kBytes, held + r * kTile, static_cast<size_t>(columns * kBytes));
  }

  static constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  int64_t rows_, columns_, row_stride_, column_stride_;
  const std::byte* from_;
  std::byte* to_;
};

template <typename T>
void move_elements(const Order& order, const std::byte* from, std::byte* to) {
  size_t rank = order.shape.size();
  int64_t each = order.shape[rank - 2] * order.shape[rank - 1], outer = 1;
  for (size_t i = 0; i + 2 < rank; ++i) outer *= order.shape[i];
  std::vector<int64_t> index(rank - 2, 0);
  Moving<T> moving(order, from, to);
  for (int64_t n = 0; n < outer; ++n) {
    int64_t base = 0;
    for (size_t i = 0; i < index.size(); ++i) base += index[i] * order.strides[i];
    moving.matrix(base, n * each);
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

relax::ConstantRef lazy_constant_transpose(const relax::ConstantRef& source, const std::vector<size_t>& axes) {
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
