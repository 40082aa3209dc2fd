// casts.h: values brought to the types that the text says of them, with guards where the types are not known to agree.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// Brings a value to what its annotation says: checks, unifies symbols, or casts with a guard.
Result<Term> annotate(FunctionParts& fn, const Term& term, const ast::Expr& annotation);
/// Brings a value to `wanted`, whose symbols `binds` get their value from it. Reports what cannot be.
Result<relax::Value*> cast_to(FunctionParts& fn, relax::Value* value, relax::Info wanted, std::vector<arith::Var> binds,
                              Place place);
/// R.match_cast(x, info).
Result<Term> match_cast(FunctionParts& fn, const ast::Expr& e);
/// R.match_shape(x, dims).
Result<Term> match_shape(FunctionParts& fn, const ast::Expr& e);

/// Gives the result of an external shape function `rank` symbols for its dims.
void give_dims(arith::Context& context, relax::Op& shape_function, int32_t rank);
/// Whether the text has said how many dims each external shape function gives; reports those that are left.
bool ranks_are_known(FunctionParts& fn);

// branch_cast.cpp: casts of what an `if` gives, moved into its branches.

/// Whether `value` is a result that the branches of an `if` know more of than the `if` does, and is not used yet: a
/// cast of it may as well be in both branches.
bool may_cast_in_branches(const FunctionParts& fn, const relax::Value& value);
Result<relax::Value*> cast_in_branches(FunctionParts& fn, relax::Value* value, relax::Info wanted,
                                       const std::vector<arith::Var>& binds, Place place);
/// Reports results of an `if` that are a handle here and a value there, and that no cast has settled.
Status check_open_results(FunctionParts& fn);

}  // namespace relaxc::frontend
