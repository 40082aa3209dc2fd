// infos.h: queries on struct infos and ops, without state of a host function.
#pragma once

#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc::lower {

/// Returns the dims of a tensor or shape, which must be known, as the program has them; empty for other infos.
std::vector<arith::Expr> relax_dims(relax::Info info);
/// Returns the numbers in an info: dims, or the value of a scalar.
std::vector<arith::Expr> numbers(relax::Info info);
/// Appends the leaves of an info to `out` in order, with tuples flattened.
void leaves(relax::Info info, std::vector<relax::Info>& out);
/// Returns the number of leaves of a value of this info.
size_t leaf_count(relax::Info info);
/// Returns the dtype in which a scalar of the Relax level is stored: int64 for an index.
DType stored_dtype(DType dtype);

/// Whether the op's result has the bytes of its operand under another type.
bool is_view(const relax::Op& op);
/// Whether a value is an opaque object. Lowering has these as tensors of rank 0 and dtype handle.
bool is_handle(const relax::Value& value);
/// Whether the op is a match_cast of an opaque object to what it holds.
bool opens_object(const relax::Op& op);
/// Returns `value`, and then the values that it is a view of, down to one that is not a view.
std::vector<relax::Value*> with_viewed(relax::Value& value);

}  // namespace relaxc::lower
