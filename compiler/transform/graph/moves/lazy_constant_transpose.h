// lazy_constant_transpose.h: a constant in another order of its axes, whose bytes are made when the weights are
// written.
#pragma once

#include <vector>

#include "compiler/relax/constant.h"

namespace relaxc {

/// Axis i of the result is axis axes[i] of `source`. Holds no bytes; with_bytes of the result makes them.
relax::ConstantRef lazy_constant_transpose(const relax::ConstantRef& source, const std::vector<size_t>& axes);

}  // namespace relaxc
