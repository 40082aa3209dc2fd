// expressions.h: reads the expressions of a Relax function.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// Returns the meaning of an expression; reports an invalid one.
Result<Term> eval(FunctionParts& fn, const ast::Expr& e);
/// Reads t[0] of a tuple, a shape or the results of an op; metadata[…][…].
Result<Term> element(FunctionParts& fn, const ast::Expr& e);
/// Returns the text of Python's operator that the operator `op` is, as "+" for add; empty if it is none.
std::string_view infix_text(std::string_view op);

}  // namespace relaxc::frontend
