// statements.h: the statements of a Relax function.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

using Body = std::vector<const ast::Stmt*>;

/// Statements in order. An error in one does not end the rest: its targets are poisoned.
Status suite(FunctionParts& fn, const Body& body);
/// branch.cpp: `if`.
Status branch(FunctionParts& fn, const ast::Stmt& stmt);
/// loop.cpp: `with R.loop(…)`.
Status loop(FunctionParts& fn, const ast::Stmt& stmt);
/// dataflow.cpp: `with R.dataflow():`.
Status dataflow(FunctionParts& fn, const ast::Stmt& stmt);
/// function_attributes.cpp: R.func_attr({…}).
Status function_attributes(FunctionParts& fn, const ast::Expr& call);
/// One statement; dataflow blocks read theirs themselves.
Status statement(FunctionParts& fn, const ast::Stmt& stmt);

}  // namespace relaxc::frontend
