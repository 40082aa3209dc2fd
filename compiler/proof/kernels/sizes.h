// sizes.h: at which sizes a kernel with open dims is checked.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/arith/facts.h"

namespace relaxc::proof {

/// Values of all `scalars`, in their order: those up to 8, those around multiples of vectors and tiles, and the
/// extremes of what `facts` admit, where these are not large. Of several scalars each takes all of them, at first all
/// the same and then in turns.
std::vector<std::vector<int64_t>> sizes_to_check(const std::vector<arith::Var>& scalars, const arith::Facts& facts);

}  // namespace relaxc::proof
