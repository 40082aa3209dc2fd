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
Values reverse_sequence(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values diagonal(relax::GraphBuilder& b, const Op& op, ByResults by_results);

/// Returns zeros of `dim` elements along `axis`, with those of g at begin, begin + step, and so on.
Value* spread(GradientBuilder& build, Value* g, size_t axis, Expr dim, Expr begin, int64_t step);

/// Returns the sums of those elements of g along `axis` that have the same number below `dim` in `source`, a vector.
Value* sum_to_sources(GradientBuilder& build, Value* g, size_t axis, Value* source, Expr dim);

}  // namespace relaxc::ops::derivatives
