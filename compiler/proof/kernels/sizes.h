// sizes.h: the sizes at which a kernel with open dims is checked.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/arith/facts.h"

namespace relaxc::proof {

/// Returns lists of values for all `scalars`, in their order: those up to 9, those around multiples of vectors and
/// tiles, and the extremes that `facts` admit, unless these are large. With several scalars, each takes all of its
/// values, in lists of similar sizes and in lists of mixed sizes.
std::vector<std::vector<int64_t>> sizes_to_check(const std::vector<arith::Var>& scalars, const arith::Facts& facts);

/// Returns lists of values up to 8, for parts of kernels that are too large at other sizes: all combinations that
/// `facts` admit for each scalar, or 24 of them. Of a scalar that is never as small as that, the least value.
std::vector<std::vector<int64_t>> small_sizes(const std::vector<arith::Var>& scalars, const arith::Facts& facts);

}  // namespace relaxc::proof
