// lexer.h: divides text into tokens by Python's rules for lines and indentation.
#pragma once

#include <string>
#include <vector>

#include "frontends/relax/text/source_text.h"

namespace relaxc::frontend {

/// kError marks a reported error; the grammar skips the statement without another message.
enum class TokenKind : uint8_t { kName, kInt, kFloat, kString, kPunctuation, kNewline, kIndent, kDedent, kError, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Place place;
  std::string text;  ///< of a string: its contents, with escapes resolved
};

/// Returns the tokens of the whole file; the last is kEnd.
std::vector<Token> tokenize(SourceText& source);
/// Returns the tokens of one expression at `place` (the inside of a quoted annotation), where lines and indentation
/// have no meaning.
std::vector<Token> tokenize_expression(SourceText& source, Place place);

}  // namespace relaxc::frontend
