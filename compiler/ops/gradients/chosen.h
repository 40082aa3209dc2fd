// chosen.h: the gradients of operators that order elements, and of those that combine elements at given positions.
#pragma once

#include "compiler/ops/common/gradient_builder.h"

namespace relaxc::ops::derivatives {

Values sort(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values topk(relax::GraphBuilder& b, const Op& op, ByResults by_results);

/// Of updates that replace, each counts as if it had been the only one at its position. Of equal extremes each gets an
/// equal part, as PyTorch's scatter_reduce has it.
Values scatter_elements(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values scatter_nd(relax::GraphBuilder& b, const Op& op, ByResults by_results);

}  // namespace relaxc::ops::derivatives
