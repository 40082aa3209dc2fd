// token_cursor.cpp: looks at tokens, takes them, and says what was expected in place of one.
#include "frontends/relay/text/token_cursor.h"

#include <algorithm>

namespace relaxc::relay {

namespace {

constexpr int kDeepestNesting = 100;
constexpr size_t kLongestQuote = 40;

}  // namespace

const Token& TokenCursor::peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

Token TokenCursor::take() {
  return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_];
}

bool TokenCursor::accept(std::string_view text) {
  if (!peek().is(text) && !peek().is_name(text)) return false;
  take();
  return true;
}

bool TokenCursor::expect(std::string_view text, std::string_view where) {
  return accept(text) || unexpected(fmt::format("'{}' {}", text, where));
}

Reported TokenCursor::unexpected(const Token& found, std::string_view wanted) const {
  std::string quoted =
      found.kind == TokenKind::kEnd ? "the end of the text" : "'" + text(found.place, found.place) + "'";
  if (quoted.size() > kLongestQuote) quoted = "what is here";
  return refuse(found.place, Kind::syntax, "expected {}, found {}", wanted, quoted);
}

TokenCursor::Nested::Nested(TokenCursor& tokens, Place place)
    : tokens_(tokens), fits_(++tokens.nesting_ <= kDeepestNesting) {
  if (!fits_) (void)tokens.refuse(place, Kind::syntax, "nested more than {} levels deep", kDeepestNesting);
}

}  // namespace relaxc::relay
