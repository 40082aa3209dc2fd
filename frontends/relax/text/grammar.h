// grammar.h: parses tokens to a tree.
#pragma once

#include "frontends/relax/text/ast.h"
#include "frontends/relax/text/lexer.h"

namespace relaxc::frontend {

/// Parses a file. Reports every statement that is not Python; the function that contains one is marked broken.
void parse_file(SourceText& source, ast::Tree& tree);
/// Parses one expression at `place`, the inside of a quoted annotation; null if an error was reported.
const ast::Expr* parse_quoted(SourceText& source, ast::Tree& tree, Place place);

}  // namespace relaxc::frontend
