// products.h: the gradients of matrix products and of reductions.
#pragma once

#include "compiler/ops/common/gradient_builder.h"

namespace relaxc::ops::derivatives {

Values matmul(relax::GraphBuilder& b, const Op& op, ByResults by_results);

Values sum(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values sum_to(relax::GraphBuilder& b, const Op& op, ByResults by_results);
/// max and min: elements that are the result share the derivative.
Values extreme(relax::GraphBuilder& b, const Op& op, ByResults by_results);
/// The product of the other elements, by products from both ends, so that it is right beside zeros.
Values prod(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values cumprod(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values inverse(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values det(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values cumsum(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values softmax(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values log_softmax(relax::GraphBuilder& b, const Op& op, ByResults by_results);

}  // namespace relaxc::ops::derivatives
