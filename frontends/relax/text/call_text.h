// call_text.h: helpers that recognize calls and targets in the tree.
#pragma once

#include <string>
#include <vector>

#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

/// Returns "T.block" for the call `T.block(...)`, with older names of TIR replaced by T. Empty if it is no call of a
/// dotted path.
std::string callee_of(const ast::Expr* e);
/// Returns the targets of an assignment or loop: one name, or the names of a tuple.
std::vector<const ast::Expr*> targets_of(const ast::Expr& target);

}  // namespace relaxc::frontend
