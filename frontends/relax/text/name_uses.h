// name_uses.h: which names a piece of text mentions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

/// Every name read or written in `body`, nested statements included.
std::set<std::string> names_used(const std::vector<const ast::Stmt*>& body);

/// Every name in `e`, words inside of quoted dims included.
std::set<std::string> names_used(const ast::Expr& e);

}  // namespace relaxc::frontend
