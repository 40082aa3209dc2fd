// call_text.h: the shapes of text that several readers look for.
#pragma once

#include <string>
#include <vector>

#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

/// "T.block" for the call `T.block(...)`; the names that TIR had before it was T are brought to it. Empty for what is
/// no call of a path.
std::string callee_of(const ast::Expr* e);
/// The targets of an assignment or loop: one name, or the names of a tuple.
std::vector<const ast::Expr*> targets_of(const ast::Expr& target);

}  // namespace relaxc::frontend
