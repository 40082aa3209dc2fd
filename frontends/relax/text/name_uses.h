// name_uses.h: finds the names in a piece of text.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

/// Returns every name that is read or written in `body`, nested statements included.
std::set<std::string> names_used(const std::vector<const ast::Stmt*>& body);

/// Returns every name in `e`, including words in quoted dims.
std::set<std::string> names_used(const ast::Expr& e);

}  // namespace relaxc::frontend
