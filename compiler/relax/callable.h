// callable.h: functions as values: what their type says, and what a call of one gives.
#pragma once

#include "compiler/relax/graph.h"

namespace relaxc::relax {

/// What several results are as one info: the tuple of them; one result is itself.
Info joined_results(Context& context, std::vector<Info> results);
/// The results of a call, one a value: the fields of a tuple, but one field is a tuple of its own.
std::vector<Info> split_results(Info result);

/// The type of `function` whose last `captured` parameters are given, with results of `results`. `symbols` are those of
/// the function that what is captured decides, and what they are where the closure is made; the others become the
/// type's own.
Info callable_type(const Function& function, std::vector<Info> results, size_t captured, arith::Substitution symbols);

/// What two functions can both be called as: the type of one of them, if the other is that for some values of its own
/// symbols; null if neither is, or if they are not callables. It is pure where both are.
Info joined_callable(Context& context, Info a, Info b);

/// Whether a value of this info is a function, or a tuple with one in it.
bool holds_callable(Info info);

/// Gives the symbols that are alone in `formal`, a parameter's info, what `actual` has in their place, unless they
/// have a value already.
void solve_symbols(Info formal, Info actual, arith::Substitution& found);

/// `info` with a new symbol for each dim of a tensor or shape whose rank alone is known, and for each scalar
/// that may be a dim.
Info with_named_dims(Context& context, Info info);

/// The numbers in `info` that a value of it shows: dims, and the values of scalars; not those inside of callables.
std::vector<Expr> numbers_of(Info info);

/// The results of a call as its caller sees them. `symbols` says what the callee's parameters became; what the callee
/// brings itself becomes a symbol that the call binds and that is added: one for each that is alone in a result,
/// and one for each dim that those do not give.
std::vector<Info> results_of_call(Context& context, std::vector<Info> results, arith::Substitution& symbols,
                                  std::vector<Var>& binds);

/// Whether nothing is left to do in the function after `op` but to return its results.
bool in_tail_position(const Op& op);

}  // namespace relaxc::relax
