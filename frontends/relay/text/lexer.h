// lexer.h: splits Relay's text into tokens.
//
// A name with dots (nn.conv2d) is one token, and so is a variable with its sign: %x, %3, @main. Names of variables may
// have dots too (%input.1, as PyTorch has them), but %x.0 may also be a field of a tuple; only the grammar knows which
// of the two it is. Comments are skipped, except for the type of a number: TVM 0.8 prints an int64 as `1 /* ty=int64
// */`, which becomes the token 1i64.
#pragma once

#include <string>
#include <vector>

#include "frontends/relax/text/source_text.h"

namespace relaxc::relay {

using frontend::Place;
using frontend::SourceText;

enum class TokenKind : uint8_t {
  kEnd,
  kGraph,   ///< %3: the digits
  kLocal,   ///< %x: the name, which may end in ".0"
  kGlobal,  ///< @main: the name
  kName,    ///< a keyword, or a name with dots
  kNumber,  ///< with its sign and its suffix: -1.5f64
  kString,  ///< the contents
  kMeta,    ///< meta[key][index]: the key; the index is `number`
  kPunctuation,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Place place;
  std::string text;
  int64_t number = 0;

  bool is(std::string_view punctuation) const { return kind == TokenKind::kPunctuation && text == punctuation; }
  bool is_name(std::string_view name) const { return kind == TokenKind::kName && text == name; }
};

struct Tokens {
  std::vector<Token> list;  ///< ends with a kEnd
  Place metadata;           ///< place of the JSON after #[metadata]; empty if there is none
};

/// Splits the text; reports what is no token. The list is usable even then.
Tokens read_tokens(SourceText& source);

}  // namespace relaxc::relay
