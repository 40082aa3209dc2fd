// linear_maps.h: the gradients of operators that map each axis by a matrix.
#pragma once

#include "compiler/ops/common/gradient_builder.h"

namespace relaxc::ops::derivatives {

Values resize(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values adaptive_avg_pool(relax::GraphBuilder& b, const Op& op, ByResults by_results);
/// Padding that repeats elements: each element gets the sum over its copies. `pads` are those of the op, all begins
/// and then all ends.
Values pad_with_copies(relax::GraphBuilder& b, const Op& op, ByResults by_results, const Dims& pads);

}  // namespace relaxc::ops::derivatives
