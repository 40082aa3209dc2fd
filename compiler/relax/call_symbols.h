// call_symbols.h: which values the symbols of a prim func take in a call.
#pragma once

#include <vector>

#include "compiler/arith/simplify.h"

namespace relaxc::relax {

/// Symbols that are alone in `formal` take the values of `actual`, unless they have one.
void solve_bare(const std::vector<arith::Expr>& formal, const std::vector<arith::Expr>& actual,
                arith::Substitution& found);

/// Symbols that no dim gives bare are found inside: `n * 4` against `m * 4`. Kernels of equal text are one function, so
/// a call may speak of other symbols than the definition did.
void unify(arith::Expr formal, arith::Expr actual, const std::vector<arith::Var>& symbols, arith::Substitution& found);

}  // namespace relaxc::relax
