// statements.h: reads the statements of a Relax function.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

using Body = std::vector<const ast::Stmt*>;

/// Reads statements in order. After an error, its targets are marked as failed and the next statement is read.
Status suite(FunctionParts& fn, const Body& body);
/// branch.cpp: reads `if`.
Status branch(FunctionParts& fn, const ast::Stmt& stmt);
/// loop.cpp: reads `with R.loop(…)`.
Status loop(FunctionParts& fn, const ast::Stmt& stmt);
/// dataflow.cpp: reads `with R.dataflow():`.
Status dataflow(FunctionParts& fn, const ast::Stmt& stmt);
/// function_attributes.cpp: reads R.func_attr({…}).
Status function_attributes(FunctionParts& fn, const ast::Expr& call);
/// Reads one statement.
Status statement(FunctionParts& fn, const ast::Stmt& stmt);

}  // namespace relaxc::frontend
