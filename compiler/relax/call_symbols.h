// call_symbols.h: the tensors of a call of a prim func, and the values that the callee's symbols have by their dims.
#pragma once

#include <vector>

#include "compiler/arith/simplify.h"
#include "compiler/relax/graph.h"

namespace relaxc::relax {

/// Returns the operands that a call passes; where one is overwritten, the result in its memory.
std::vector<const Value*> placed_operands(const Op& call);

/// Returns the results that overwrite no operand.
std::vector<Value*> fresh_results(const Op& call);

/// Returns the tensors whose dims are known before the call, in the order of the callee's buffers: what it passes, and
/// results, unless it binds symbols to numbers that the callee leaves. Only their dims may decide the callee's symbols.
std::vector<const Value*> tensors_known_before(const Op& call);

/// Adds to `found`, for each dim of `formal` that is a symbol without a value there, the dim of `actual` at its index.
void solve_bare(const std::vector<arith::Expr>& formal, const std::vector<arith::Expr>& actual,
                arith::Substitution& found);

/// Matches `formal` with `actual` and adds the values of `symbols` inside of it: `n * 4` and `m * 4` give n the value
/// m. Needed because kernels of equal text are merged, so a call may use other symbols than the definition did.
void unify(arith::Expr formal, arith::Expr actual, const std::vector<arith::Var>& symbols, arith::Substitution& found);

/// Adds the values of the callee's symbols to `found`: those that are dims themselves first, then those inside of dims.
/// \param dims  of the tensors that are known before the call
void solve_symbols(const tir::PrimFunc& callee, const std::vector<std::vector<arith::Expr>>& dims,
                   arith::Substitution& found);

}  // namespace relaxc::relax
