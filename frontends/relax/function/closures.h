// closures.h: nested functions, and functions as values.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// @R.function def inner(…): inside a function.
Status nested_function(FunctionParts& fn, const ast::Stmt& stmt);
/// What a name is bound to: a function of the module becomes a value.
Result<Term> named_function(FunctionParts& fn, const Term& term, Place place);
/// A function of the module as a value, its last parameters given.
Result<relax::Value*> global_closure(FunctionParts& fn, const std::string& name,
                                     const std::vector<relax::Value*>& captured, Place place);
/// R.make_closure(cls.f, (x, y))
Result<Term> make_closure(FunctionParts& fn, const ast::Expr& e);
/// R.invoke_closure(c, (x, y), ty_args=(R.Tensor(…),))
Result<Term> invoke_closure(FunctionParts& fn, const ast::Expr& e);
/// f(x, y), where f is a value.
Result<Term> call_value(FunctionParts& fn, const Term& function, const ast::Expr& e);

}  // namespace relaxc::frontend
