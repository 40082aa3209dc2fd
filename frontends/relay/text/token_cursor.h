// token_cursor.h: the position of the reader in the tokens of a text, and messages about the tokens there.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/relay/text/lexer.h"

namespace relaxc::relay {

/// What a function returns that has reported an error: a null pointer or false.
struct Reported {
  template <typename T>
  operator T*() const {
    return nullptr;
  }
  operator bool() const { return false; }
};

class TokenCursor {
 public:
  TokenCursor(SourceText& source, std::vector<Token> tokens) : source_(source), tokens_(std::move(tokens)) {}
  TokenCursor(const TokenCursor&) = delete;

  const Token& peek(size_t ahead = 0) const;
  /// Returns the token and goes on; stays at the end.
  Token take();
  bool accept(std::string_view text);
  bool expect(std::string_view text, std::string_view where);
  /// Reports that `wanted` should stand where `found` is; by default, that is the next token.
  Reported unexpected(std::string_view wanted) const { return unexpected(peek(), wanted); }
  Reported unexpected(const Token& found, std::string_view wanted) const;
  template <typename... Args>
  Reported refuse(Place place, Kind kind, fmt::format_string<Args...> format, Args&&... args) const {
    (void)source_.error(place, kind, format, std::forward<Args>(args)...);
    return {};
  }

  /// The number of the next token, which go_to() takes.
  size_t at() const { return at_; }
  void go_to(size_t at) { at_ = at; }
  const std::vector<Token>& all() const { return tokens_; }
  /// The text from the begin of one place to the end of another.
  std::string text(Place first, Place last) const {
    return source_.text().substr(first.begin, last.end() - first.begin);
  }
  bool starts_line(Place place) const { return place.begin == 0 || source_.text()[place.begin - 1] == '\n'; }
  size_t error_count() const { return source_.diag().error_count(); }

  /// While it lives, tokens are read from `at` on; afterwards, from where they were read before.
  class Elsewhere {
   public:
    Elsewhere(TokenCursor& tokens, size_t at) : tokens_(tokens), back_(std::exchange(tokens.at_, at)) {}
    Elsewhere(const Elsewhere&) = delete;
    ~Elsewhere() { tokens_.at_ = back_; }

   private:
    TokenCursor& tokens_;
    size_t back_;
  };

  /// One level of nesting, for its lifetime; false if that is one too many, which is then reported at `place`. So no
  /// text overflows the stack.
  class Nested {
   public:
    Nested(TokenCursor& tokens, Place place);
    Nested(const Nested&) = delete;
    ~Nested() { --tokens_.nesting_; }
    explicit operator bool() const { return fits_; }

   private:
    TokenCursor& tokens_;
    bool fits_;
  };

 private:
  SourceText& source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace relaxc::relay
