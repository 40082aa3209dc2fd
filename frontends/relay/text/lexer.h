// lexer.h: Relay's text to tokens.
//
// A name with dots (nn.conv2d) is one token, and so is a variable with its sign: %x, %3, @main. The names of variables
// may have dots too (%input.1, as PyTorch calls them), and %x.0 is also how a part of a tuple is written; which of the
// two it is, only the grammar knows. Comments are passed over, but for the type of a number: TVM 0.8 prints an int64 as
// `1 /* ty=int64 */`, which is the token 1i64.
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
  Place metadata;           ///< the JSON behind #[metadata]; empty: there is none
};

/// Reports what is no token. The list is whole in any case.
Tokens read_tokens(SourceText& source);

}  // namespace relaxc::relay
