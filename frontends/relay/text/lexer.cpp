// lexer.cpp: splits Relay's text into tokens.
#include "frontends/relay/text/lexer.h"

#include <algorithm>
#include <charconv>

namespace relaxc::relay {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr std::string_view kPairs[] = {"->", "=>", "==", "!=", "<=", ">="};
constexpr std::string_view kSingle = "(){}[]<>,;:=.?|+-*/";

class Lexer {
 public:
  explicit Lexer(SourceText& source) : source_(source), text_(source.text()) {}

  Tokens run() {
    while (next()) {
    }
    add(TokenKind::kEnd, at_ < text_.size() ? at_ : text_.size(), {});
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string_view rest() const { return std::string_view(text_).substr(at_); }
  Place from(size_t begin) const {
    return {static_cast<uint32_t>(begin), static_cast<uint32_t>(std::max<size_t>(at_ - begin, 1))};
  }
  Token& add(TokenKind kind, size_t begin, std::string text) {
    return tokens_.list.emplace_back(Token{kind, from(begin), std::move(text)});
  }

  bool next();
  bool comment();
  void type_of_number(std::string_view comment);
  bool attribute();
  void variable();
  void global();
  void name();
  bool meta();
  bool number();
  bool string();
  bool punctuation();
  template <typename Wanted>
  std::string take(Wanted wanted) {
    size_t begin = at_;
    while (at_ < text_.size() && wanted(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  SourceText& source_;
  const std::string& text_;
  size_t at_ = 0;
  Tokens tokens_;
};

/// Reads one token; false at the end, or if the rest of the text cannot be split.
bool Lexer::next() {
  take([](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
  if (at_ >= text_.size()) return false;
  char c = peek();
  if (c == '/' && (peek(1) == '*' || peek(1) == '/')) return comment();
  if (c == '#') return attribute();
  if (c == '%') return variable(), true;
  if (c == '@') return global(), true;
  if (c == '"') return string();
  if (number() || meta()) return true;
  if (is_letter(c)) return name(), true;
  return punctuation();
}

/// Skips a comment; comments nest.
bool Lexer::comment() {
  size_t begin = at_;
  if (peek(1) == '/') return take([](char c) { return c != '\n'; }), true;
  size_t open = 0;
  do {
    bool opens = rest().starts_with("/*"), closes = rest().starts_with("*/");
    open = open + (opens ? 1 : 0) - (closes ? 1 : 0);
    at_ += opens || closes ? 2 : 1;
  } while (open > 0 && at_ < text_.size());
  if (open == 0) {
    type_of_number(std::string_view(text_).substr(begin + 2, at_ - begin - 4));
    return true;
  }
  at_ = text_.size();
  (void)source_.error({static_cast<uint32_t>(begin), 2}, Kind::syntax, "this comment does not end");
  return false;
}

/// Adds the type from a comment `ty=int64` to the number before it, if that has no suffix.
void Lexer::type_of_number(std::string_view comment) {
  comment.remove_prefix(std::min(comment.find_first_not_of(' '), comment.size()));
  if (!comment.starts_with("ty=") || tokens_.list.empty()) return;
  comment.remove_prefix(3);
  Token& last = tokens_.list.back();
  bool plain = last.kind == TokenKind::kNumber && last.text.find_first_of("fiu") == std::string::npos;
  for (std::string_view kind : {"int", "uint", "float"}) {
    if (!plain || !comment.starts_with(kind)) continue;
    std::string_view width = comment.substr(kind.size());
    width = width.substr(0, std::min(width.find_first_not_of("0123456789"), width.size()));
    if (!width.empty()) last.text += kind.substr(0, 1), last.text += width;
    return;
  }
}

/// Skips #[version = "0.0.5"]; at #[metadata], records the place of the JSON after it and stops.
bool Lexer::attribute() {
  size_t begin = at_;
  std::string written = take([](char c) { return c != ']' && c != '\n'; });
  bool closed = peek() == ']';
  at_ += closed ? 1 : 0;
  size_t first = written.find_first_not_of(" \t", std::min<size_t>(2, written.size()));
  std::string_view inside = first == std::string::npos ? std::string_view() : std::string_view(written).substr(first);
  if (closed && written.starts_with("#[") && inside.starts_with("version")) return true;
  if (closed && written.starts_with("#[") && inside.starts_with("metadata")) {
    tokens_.metadata = {static_cast<uint32_t>(at_), static_cast<uint32_t>(text_.size() - at_)};
    at_ = text_.size();
    return false;
  }
  (void)source_.error(from(begin), Kind::syntax, "expected #[version = \"…\"] or #[metadata]");
  return true;
}

/// A dot belongs to a variable's name if a letter or digit follows it.
void Lexer::variable() {
  size_t begin = at_++;
  if (is_digit(peek())) {
    std::string digits = take(is_digit);
    add(TokenKind::kGraph, begin, std::move(digits));
    return;
  }
  std::string name;
  auto part = [](char c) { return is_letter(c) || is_digit(c) || c == '/'; };
  name = take(part);
  while (peek() == '.' && part(peek(1))) {
    ++at_;
    name += "." + take(part);
  }
  if (name.empty()) (void)source_.error(from(begin), Kind::syntax, "expected a name behind '%%'");
  add(TokenKind::kLocal, begin, std::move(name));
}

void Lexer::global() {
  size_t begin = at_++;
  std::string name = take([](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
  if (name.empty()) (void)source_.error(from(begin), Kind::syntax, "expected a name behind '@'");
  add(TokenKind::kGlobal, begin, std::move(name));
}

void Lexer::name() {
  size_t begin = at_;
  auto part = [](char c) { return is_letter(c) || is_digit(c); };
  std::string name = take(part);
  while (peek() == '.' && is_letter(peek(1))) {
    ++at_;
    name += "." + take(part);
  }
  add(TokenKind::kName, begin, std::move(name));
}

/// Reads meta[relay.Constant][0].
bool Lexer::meta() {
  if (!rest().starts_with("meta[")) return false;
  size_t begin = at_;
  at_ += 5;
  std::string key = take([](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
  int64_t index = -1;
  if (rest().starts_with("][")) {
    at_ += 2;
    std::string digits = take(is_digit);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc() || digits.empty()) index = -1;
  }
  if (index < 0 || peek() != ']')
    (void)source_.error(from(begin), Kind::syntax, "expected meta[key][number]");
  else
    ++at_;
  add(TokenKind::kMeta, begin, std::move(key)).number = index;
  return true;
}

/// Reads digits, a fraction, an exponent and a suffix: 1, -1.5f, 1e-05f, 2i64, inff, nanf16.
bool Lexer::number() {
  size_t begin = at_;
  size_t sign = peek() == '-' ? 1 : 0;
  std::string_view digits = rest().substr(sign);
  bool special = digits.starts_with("inff") || digits.starts_with("nanf");
  if (special) special = digits.size() == 4 || !is_letter(digits[4]);
  if (!special && (digits.empty() || !is_digit(digits[0]))) return false;
  at_ += sign + (special ? 3 : 0);
  if (!special) {
    take(is_digit);
    if (peek() == '.' && is_digit(peek(1))) ++at_, take(is_digit);
    bool exponent = peek() == 'e' || peek() == 'E';
    size_t signs = exponent && (peek(1) == '-' || peek(1) == '+') ? 1 : 0;
    if (exponent && is_digit(peek(1 + signs))) at_ += 1 + signs, take(is_digit);
  }
  if (peek() == 'f' || peek() == 'i' || peek() == 'u') ++at_, take(is_digit);
  if (is_letter(peek())) {
    take([](char c) { return is_letter(c) || is_digit(c); });
    (void)source_.error(from(begin), Kind::syntax, "this is not a number");
  }
  add(TokenKind::kNumber, begin, text_.substr(begin, at_ - begin));
  return true;
}

bool Lexer::string() {
  size_t begin = at_++;
  std::string contents;
  while (at_ < text_.size() && peek() != '"' && peek() != '\n') {
    bool escape = peek() == '\\' && (peek(1) == '"' || peek(1) == '\\' || peek(1) == 'n');
    if (escape) ++at_;
    contents += escape && peek() == 'n' ? '\n' : peek();
    ++at_;
  }
  if (peek() == '"')
    ++at_;
  else
    (void)source_.error(from(begin), Kind::syntax, "this string does not end");
  add(TokenKind::kString, begin, std::move(contents));
  return true;
}

bool Lexer::punctuation() {
  size_t begin = at_;
  for (std::string_view pair : kPairs)
    if (rest().starts_with(pair)) {
      at_ += 2;
      add(TokenKind::kPunctuation, begin, std::string(pair));
      return true;
    }
  if (kSingle.find(peek()) != std::string_view::npos) {
    ++at_;
    add(TokenKind::kPunctuation, begin, text_.substr(begin, 1));
    return true;
  }
  // Report a character of several bytes once.
  do ++at_;
  while (at_ < text_.size() && (static_cast<uint8_t>(text_[at_]) & 0xC0) == 0x80);
  (void)source_.error(from(begin), Kind::syntax, "unexpected character");
  return true;
}

}  // namespace

Tokens read_tokens(SourceText& source) {
  return Lexer(source).run();
}

}  // namespace relaxc::relay
