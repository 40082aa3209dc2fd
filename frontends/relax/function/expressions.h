// expressions.h: reads the expressions of a Relax function.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// Returns the meaning of an expression; reports an invalid one.
Result<Term> eval(FunctionParts& fn, const ast::Expr& e);
/// Reads t[0] of a tuple, a shape or the results of an op; metadata[…][…].
Result<Term> element(FunctionParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
