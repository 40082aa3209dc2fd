// closures.h: reads nested functions, and functions as values.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// Reads @R.function def inner(…): inside of a function.
Status nested_function(FunctionParts& fn, const ast::Stmt& stmt);
/// Returns what an assigned name is bound to: a function of the module becomes a value, anything else stays.
Result<Term> named_function(FunctionParts& fn, const Term& term, Place place);
/// Returns a function of the module as a value, with its last parameters bound to `captured`.
Result<relax::Value*> global_closure(FunctionParts& fn, const std::string& name,
                                     const std::vector<relax::Value*>& captured, Place place);
/// Reads R.make_closure(cls.f, (x, y)).
Result<Term> make_closure(FunctionParts& fn, const ast::Expr& e);
/// Reads R.invoke_closure(c, (x, y), ty_args=(R.Tensor(…),)).
Result<Term> invoke_closure(FunctionParts& fn, const ast::Expr& e);
/// Reads f(x, y), where f is a value.
Result<Term> call_value(FunctionParts& fn, const Term& function, const ast::Expr& e);

}  // namespace relaxc::frontend
