// indexing.h: subscripts that are read from data.
//
// An index must be in [-dim, dim). Unless that is known at compile time (the indices are constants, or bytes that index
// a table of 256), a loop of guards runs before any access through them and ends the call with RLX_INDEX_RANGE, so no
// subscript is outside of its buffer. The accesses themselves are then a plain loop nest that fusion and schedules can
// handle.
#pragma once

#include "compiler/ops/common/shape.h"

namespace relaxc::ops {

/// Returns whether operand `index` is a constant with all elements in [-dim, dim), or its dtype has no others.
bool known_in_range(const Op& op, size_t index, Expr dim);
/// Returns guards that the elements of operand `index` are in [-dim, dim); null if that is known. With `last`, only the
/// elements with that last subscript: one column of index tuples.
Stmt check_indices(DefineContext& d, size_t index, Expr dim, Expr last = {});
/// Returns an element of an index tensor as a subscript in [0, dim).
Expr subscript(Expr element, Expr dim);
/// Fails unless operand `index` is an integer tensor.
Result<const TensorInfo*> index_tensor(InferContext& c, size_t index);

/// Fails unless a scatter's reduction is "none" ("update"), "add", "mul" ("multiply"), "max" or "min".
relaxc::Status check_reduction(InferContext& c);
Expr combine(const std::string& reduction, Expr old_value, Expr update);

}  // namespace relaxc::ops
