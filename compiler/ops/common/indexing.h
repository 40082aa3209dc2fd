// indexing.h: subscripts that come from the data.
//
// An index must be in -dim..dim-1. Unless that is known when compiling (the indices are constants, or bytes that pick
// from a table of 256), a loop of guards runs before anything is read or written through them and ends the call with
// RLX_INDEX_RANGE, so no subscript ever leaves its buffer. What follows is then a plain loop nest that fusion and
// schedules understand.
#pragma once

#include "compiler/ops/common/shape.h"

namespace relaxc::ops {

/// Whether operand `index` is a constant whose elements all are in -dim..dim-1, or of a dtype that has no others.
bool known_in_range(const Op& op, size_t index, Expr dim);
/// Guards that the elements of operand `index` (whose last subscript is `last` if not null: one column of index tuples)
/// are in -dim..dim-1; null if that is known.
Stmt check_indices(DefineContext& d, size_t index, Expr dim, Expr last = {});
/// An element of an index tensor as a subscript 0..dim-1.
Expr subscript(Expr element, Expr dim);
/// Fails unless operand `index` is an integer tensor.
Result<const TensorInfo*> index_tensor(InferContext& c, size_t index);

/// How a scatter combines: "none" ("update"), "add", "mul" ("multiply"), "max", "min"; fails on others.
relaxc::Status check_reduction(InferContext& c);
Expr combine(const std::string& reduction, Expr old_value, Expr update);

}  // namespace relaxc::ops
