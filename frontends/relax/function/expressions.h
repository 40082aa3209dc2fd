// expressions.h: the expressions of a Relax function.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// What an expression stands for; reports what has no meaning.
Result<Term> eval(FunctionParts& fn, const ast::Expr& e);
/// t[0] of a tuple, a shape or the results of an op; metadata[…][…].
Result<Term> element(FunctionParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
