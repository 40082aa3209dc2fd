// grammar.h: tokens to a tree.
#pragma once

#include "frontends/relax/text/ast.h"
#include "frontends/relax/text/lexer.h"

namespace relaxc::frontend {

/// Reads a file. Reports every statement that is not Python; what is left of its function is marked broken.
void parse_file(SourceText& source, ast::Tree& tree);
/// Reads one expression at `place`, the inside of a quoted annotation; null if an error was reported.
const ast::Expr* parse_quoted(SourceText& source, ast::Tree& tree, Place place);

}  // namespace relaxc::frontend
