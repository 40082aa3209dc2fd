// call_symbols.h: finds the values that the symbols of a prim func have in a call.
#pragma once

#include <vector>

#include "compiler/arith/simplify.h"

namespace relaxc::relax {

/// Adds to `found`, for each dim of `formal` that is a symbol without a value there, the dim of `actual` at its index.
void solve_bare(const std::vector<arith::Expr>& formal, const std::vector<arith::Expr>& actual,
                arith::Substitution& found);

/// Matches `formal` with `actual` and adds the values of `symbols` inside of it: `n * 4` and `m * 4` give n the value
/// m. Needed because kernels of equal text are merged, so a call may use other symbols than the definition did.
void unify(arith::Expr formal, arith::Expr actual, const std::vector<arith::Var>& symbols, arith::Substitution& found);

}  // namespace relaxc::relax
