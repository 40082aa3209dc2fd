// window_attrs.cpp: fills in numbers that programs may leave out.
#include "compiler/transform/graph/products/window_attrs.h"

namespace relaxc {

std::vector<int64_t> one_per_dim(std::vector<int64_t> numbers, size_t spatial, int64_t otherwise) {
  if (numbers.empty()) numbers = {otherwise};
  if (numbers.size() == 1) numbers.assign(spatial, numbers[0]);
  return numbers;
}

std::vector<int64_t> both_sides(std::vector<int64_t> padding, size_t spatial) {
  padding = one_per_dim(std::move(padding), spatial, 0);
  if (padding.size() == spatial)
    padding.insert(padding.end(), padding.begin(), padding.begin() + static_cast<std::ptrdiff_t>(spatial));
  return padding;
}

}  // namespace relaxc
