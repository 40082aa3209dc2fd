// infos.h: what struct infos and ops say to lowering, with no state of a host function.
#pragma once

#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc::lower {

/// The dims that an info says, as the program has them; none of what is neither tensor nor shape. All must be known.
std::vector<arith::Expr> relax_dims(relax::Info info);
/// What an info says in numbers: dims, or a scalar's value.
std::vector<arith::Expr> numbers(relax::Info info);
/// The leaves of an info in order, tuples flattened, behind what `out` has.
void leaves(relax::Info info, std::vector<relax::Info>& out);
/// How many leaves a value of this info has.
size_t leaf_count(relax::Info info);
/// The dtype under which a scalar of the Relax level is in memory.
DType stored_dtype(DType dtype);

/// Whether the op gives the bytes of its operand under another type.
bool is_view(const relax::Op& op);
/// Whether a value is an opaque object: a tensor of rank 0 and dtype handle, once lowering has begun.
bool is_handle(const relax::Value& value);
/// Whether the op is a match_cast of an object to what it holds.
bool opens_object(const relax::Op& op);
/// `value`, and what it is a view of, up to what is none.
std::vector<relax::Value*> with_viewed(relax::Value& value);

}  // namespace relaxc::lower
