// casts.h: casts values to the types in the text, with guards where the types are not known to agree.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// Brings a value to the type of its annotation: checks it, unifies symbols, or casts with a guard.
Result<Term> annotate(FunctionParts& fn, const Term& term, const ast::Expr& annotation);
/// Casts a value to `wanted`, whose symbols `binds` it determines. Reports a cast that is impossible.
Result<relax::Value*> cast_to(FunctionParts& fn, relax::Value* value, relax::Info wanted, std::vector<arith::Var> binds,
                              Place place);
/// Reads R.match_cast(x, info).
Result<Term> match_cast(FunctionParts& fn, const ast::Expr& e);
/// Reads R.match_shape(x, dims).
Result<Term> match_shape(FunctionParts& fn, const ast::Expr& e);

/// Makes `rank` symbols for the dims of an external shape function's result.
void give_dims(arith::Context& context, relax::Op& shape_function, int32_t rank);
/// Returns whether the rank of each external shape function's result is known; reports those that are not.
bool ranks_are_known(FunctionParts& fn);

// branch_cast.cpp: casts of an `if`'s results, moved into its branches.

/// Returns whether `value` is an unused result of an `if` whose branches know more of its type than the `if` does, so
/// that a cast may be moved into both branches.
bool may_cast_in_branches(const FunctionParts& fn, const relax::Value& value);
Result<relax::Value*> cast_in_branches(FunctionParts& fn, relax::Value* value, relax::Info wanted,
                                       const std::vector<arith::Var>& binds, Place place);
/// Reports results of an `if` that are a handle in one branch and a value in the other, and that no cast resolves.
Status check_open_results(FunctionParts& fn);

}  // namespace relaxc::frontend
