// expressions.h: reads Relay's expressions.
//
// Relay is an expression language, so a branch becomes an `if` whose sides bind one name, and an expression in braces
// becomes the statements before its last value.
#pragma once

#include "frontends/relay/text/parts.h"

namespace relaxc::relay {

/// Reads bindings, and the value after them.
Expr read_expression(ReaderParts& reader);
/// Reads an expression without bindings: operands with infix operators between them.
Expr read_operand(ReaderParts& reader);

}  // namespace relaxc::relay
