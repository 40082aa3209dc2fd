// parts.h: the parts of the reader of a Relay text.
//
//   TokenCursor  where the reader is in the text, and messages
//   TreeBuilder  the tree of the Relax program that is made
//   Definitions  the functions and data types of the text
//   Variables    what variables, numbered values and references are called in the tree
//   Types        owns the types, and unifies them
//   ValueTypes   the types of values, and what waits for them
//
// Each has its own state. Functions over these parts read the constructs of Relay; they are declared in a header for
// each topic: annotations.h, types.h, functions.h, expressions.h, attributes.h, data.h, match.h, references.h.
#pragma once

#include <vector>

#include "frontends/relay/text/definitions.h"
#include "frontends/relay/text/token_cursor.h"
#include "frontends/relay/text/tree_builder.h"
#include "frontends/relay/text/value_types.h"
#include "frontends/relay/text/variables.h"

namespace relaxc::relay {

struct ReaderParts {
  ReaderParts(SourceText& source, ast::Tree& made, std::vector<Token> list, Types::Deduce deduce)
      : tokens(source, std::move(list)), tree(made, tokens.all()), types(std::move(deduce)), values(types) {}
  ReaderParts(const ReaderParts&) = delete;

  TokenCursor tokens;
  TreeBuilder tree;
  Definitions definitions;
  Variables variables;
  Types types;
  ValueTypes values;
  bool last = false;  ///< whether the current expression is the function's result

  /// Binds a value to a new name, unless it is a name itself; returns the name.
  Expr named(Expr value, const std::string& wanted, Place place);
  /// A new name in the tree for a variable of the innermost scope.
  std::string declare(const std::string& variable);
};

}  // namespace relaxc::relay
