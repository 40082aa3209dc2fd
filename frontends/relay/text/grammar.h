// grammar.h: reads Relay's tokens into the tree of a Relax program.
//
// Relay and Relax agree on what a function is: values that are bound to names, calls, tuples, branches, closures. So
// a Relay function is written as the statements of a Relax one, with their places in the Relay text; inference, loops,
// captures and messages are the same for both. Calls of operators keep Relay's names under the root `relay`;
// operators.h gives their meaning. parts.h says what the reader is made of.
#pragma once

#include "frontends/relax/text/ast.h"
#include "frontends/relay/text/data_type.h"
#include "frontends/relay/text/lexer.h"

namespace relaxc::relay {

/// Reads all functions that @main needs, or all functions if there is no @main. Reports at most one syntax error for
/// each function. `deduce` gives the types of operators.
void read_text(SourceText& source, frontend::ast::Tree& tree, Tokens tokens, Types::Deduce deduce);

}  // namespace relaxc::relay
