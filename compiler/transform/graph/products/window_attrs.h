// window_attrs.h: strides and padding of windows, in full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace relaxc {

/// One number for each of `spatial` dims of what may be none (then all are `otherwise`) or one for all.
std::vector<int64_t> one_per_dim(std::vector<int64_t> numbers, size_t spatial, int64_t otherwise);
/// `padding` as begins, then ends, of each of `spatial` dims.
std::vector<int64_t> both_sides(std::vector<int64_t> padding, size_t spatial);

}  // namespace relaxc
