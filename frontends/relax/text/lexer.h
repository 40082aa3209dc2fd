// lexer.h: characters to tokens, with Python's rules for lines and indentation.
#pragma once

#include <string>
#include <vector>

#include "frontends/relax/text/source_text.h"

namespace relaxc::frontend {

/// kError is where something was reported already; the grammar gives up on the statement without a further word.
enum class TokenKind : uint8_t { kName, kInt, kFloat, kString, kPunctuation, kNewline, kIndent, kDedent, kError, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Place place;
  std::string text;  ///< of a string its contents, escapes resolved
};

/// The tokens of the whole file; the last is kEnd.
std::vector<Token> tokenize(SourceText& source);
/// The tokens of one expression that is at `place` (the inside of a quoted annotation): lines and indentation mean
/// nothing.
std::vector<Token> tokenize_expression(SourceText& source, Place place);

}  // namespace relaxc::frontend
