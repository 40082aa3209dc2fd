// moves.h: the gradients of operators that copy elements: from other positions, from several tensors, or by indices.
#pragma once

#include "compiler/ops/common/gradient_builder.h"

namespace relaxc::ops::derivatives {

Values permute_dims(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values flip(relax::GraphBuilder& b, const Op& op, ByResults by_results);
/// broadcast_to and full: the sum over the copies of operand 0.
Values broadcast(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values tile(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values repeat(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values concat(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values slice_part(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values pad(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values trilu(relax::GraphBuilder& b, const Op& op, ByResults by_results);

Values take(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values gather_elements(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values gather_nd(relax::GraphBuilder& b, const Op& op, ByResults by_results);
/// Of updates that replace, each counts as if it had been the only one at its position.
Values scatter_elements(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values scatter_nd(relax::GraphBuilder& b, const Op& op, ByResults by_results);

/// Returns zeros of `dim` elements along `axis`, with those of g at begin, begin + step, and so on.
Value* spread(GradientBuilder& build, Value* g, size_t axis, Expr dim, Expr begin, int64_t step);

}  // namespace relaxc::ops::derivatives
