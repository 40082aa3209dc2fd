// window_attrs.h: strides and padding of windows, with a number for each dim and side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace relaxc {

/// Returns one number for each of `spatial` dims, of a list that may be empty (all are `otherwise`) or have only one.
std::vector<int64_t> one_per_dim(std::vector<int64_t> numbers, size_t spatial, int64_t otherwise);
/// Returns `padding` as begins, then ends, of each of `spatial` dims.
std::vector<int64_t> both_sides(std::vector<int64_t> padding, size_t spatial);

}  // namespace relaxc
