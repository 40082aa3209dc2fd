// callable.h: types of functions as values, and the results of calling them.
#pragma once

#include "compiler/relax/graph.h"

namespace relaxc::relax {

/// Returns several results as one info: a tuple of them; one result is returned as it is.
Info joined_results(Context& context, std::vector<Info> results);
/// Returns the results of a call, one for each value: the fields of a tuple; a tuple of one field is one result.
std::vector<Info> split_results(Info result);

/// Returns the type of `function` with its last `captured` parameters bound, and with these `results`. `symbols` maps
/// the function's symbols that captured values determine to their values where the closure is made; the other symbols
/// become the type's own.
Info callable_type(const Function& function, std::vector<Info> results, size_t captured, arith::Substitution symbols);

/// Returns a type by which both functions can be called: that of one, if the other's is an instance of it for values of
/// its own symbols; else null, also if one is no callable. It is pure if both are.
Info joined_callable(Context& context, Info a, Info b);

/// Returns whether a value of this info is a function or a tuple that contains one.
bool holds_callable(Info info);

/// Adds to `found`, for each dim or scalar of `formal` (a parameter's info) that is a symbol without a value there, the
/// value in `actual`.
void solve_symbols(Info formal, Info actual, arith::Substitution& found);

/// Returns `info` with a new symbol for each dim of a tensor or shape of which only the rank is known, and for each
/// index scalar without a value.
Info with_named_dims(Context& context, Info info);

/// Returns the dims and scalar values in `info`, in order; not those inside of callables.
std::vector<Expr> numbers_of(Info info);

/// Returns the results of a call in terms of its caller. `symbols` maps the callee's parameters to their values. A
/// number that only the callee knows becomes a new symbol in `symbols` and `binds`: one for each symbol that is a whole
/// dim of a result, and one for each other dim that these do not determine.
std::vector<Info> results_of_call(Context& context, std::vector<Info> results, arith::Substitution& symbols,
                                  std::vector<Var>& binds);

/// Returns whether the function does nothing after `op` but return its results.
bool in_tail_position(const Op& op);

}  // namespace relaxc::relax
