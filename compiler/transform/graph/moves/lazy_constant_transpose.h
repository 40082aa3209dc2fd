// lazy_constant_transpose.h: a constant with permuted axes, whose bytes are not stored but computed when the weights
// are written.
#pragma once

#include <vector>

#include "compiler/relax/constant.h"

namespace relaxc {

/// Returns `source` with its axis axes[i] as axis i. The result holds no bytes; its with_bytes computes them.
relax::ConstantRef lazy_constant_transpose(const relax::ConstantRef& source, const std::vector<size_t>& axes);

}  // namespace relaxc
