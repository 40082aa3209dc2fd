// name_dims.h: gives names to dims that have become large expressions.
//
// The dims of a result are expressions of those of its operands. Where each op of a chain adds to them (a slice a
// minimum, a division by a stride a remainder), the dims of n ops have n^2 operations in all, and every proof about one
// takes as long as it is large. So a frontend casts a value with such a dim to a new symbol: what follows is computed
// from that. Lowering replaces the symbol by the expression where the entry computes sizes, so no size is lost.
//
// Equal dims get one symbol wherever its cast can be seen. A symbol still hides what two different sizes have to do
// with each other, so small expressions stay as they are.
#pragma once

#include "compiler/relax/builder.h"

namespace relaxc::relax {

/// Returns whether an index expression is so large that it gets a name.
bool is_large_dim(Expr dim);

/// Replaces each of `values` that has a large dim by a match_cast of it, which `build` adds: to symbols that the cast
/// binds, one for each such dim. A cast that an op added before is used again. Null values stay.
void name_large_dims(GraphBuilder& build, std::vector<Value*>& values);

/// Replaces the large ones of `numbers`, which may be negative, by symbols.
void name_large_numbers(GraphBuilder& build, std::vector<Expr>& numbers);

}  // namespace relaxc::relax
