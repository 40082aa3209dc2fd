// lexer.cpp: divides text into tokens by Python's rules for lines and indentation.
//
// Indentation is a stack of columns; inside of brackets it has no meaning. A bracket that is never closed would hide
// the rest of the file with all its errors, so a line inside of brackets that begins like a statement (`def`, `return`,
// `@`, …) ends the brackets: the opening one is reported and lexing continues.
#include "frontends/relax/text/lexer.h"

#include <array>
#include <optional>
#include <string_view>

namespace relaxc::frontend {
namespace {

constexpr size_t kDeepestIndentation = 100;
constexpr uint32_t kTabWidth = 8;

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_part(char c) {
  return is_name_start(c) || is_digit(c);
}
bool is_graphic(char c) {
  return c >= ' ' && c <= '~';
}

class Lexer {
 public:
  Lexer(SourceText& source, Place range, bool expression)
      : source_(source), text_(source.text()), at_(range.begin), end_(range.end()), expression_(expression) {}

  std::vector<Token> run() {
    if (!expression_ && text_.substr(at_, 3) == "\xEF\xBB\xBF") at_ += 3;
    bool line_start = !expression_;
    while (at_ < end_) {
      if (line_start && open_.empty()) {
        if (blank_line()) continue;
        indentation();
      } else if (line_start) {
        stray_brackets();
      }
      line_start = false;
      if (at_ < end_) line_start = token();
    }
    finish();
    return std::move(tokens_);
  }

 private:
  struct Bracket {
    char closing;
    uint32_t begin;
  };

  char peek(uint32_t ahead = 0) const { return at_ + ahead < end_ ? text_[at_ + ahead] : '\0'; }

  void add(TokenKind kind, uint32_t begin, std::string text = {}) {
    tokens_.push_back({kind, {begin, at_ - begin}, std::move(text)});
  }

  template <typename... Args>
  void fail(uint32_t begin, fmt::format_string<Args...> format, Args&&... args) {
    Place place{begin, at_ > begin ? at_ - begin : 1};
    (void)source_.error(place, Kind::syntax, format, std::forward<Args>(args)...);
    add(TokenKind::kError, begin);
  }

  /// Skips a line that has only whitespace and comments; returns whether it did.
  bool blank_line() {
    uint32_t at = at_;
    while (at < end_ && (text_[at] == ' ' || text_[at] == '\t' || text_[at] == '\r' || text_[at] == '\f')) ++at;
    if (at < end_ && text_[at] == '#')
      while (at < end_ && text_[at] != '\n') ++at;
    if (at < end_ && text_[at] != '\n') return false;
    at_ = at < end_ ? at + 1 : at;
    return true;
  }

  void indentation() {
    uint32_t begin = at_, column = 0;
    for (; peek() == ' ' || peek() == '\t' || peek() == '\f'; ++at_)
      column = peek() == '\t' ? (column / kTabWidth + 1) * kTabWidth : column + 1;
    if (column > columns_.back()) {
      if (columns_.size() > kDeepestIndentation) {
        fail(begin, "more than {} levels of indentation", kDeepestIndentation);
        at_ = end_;
        return;
      }
      columns_.push_back(column);
      add(TokenKind::kIndent, begin);
    }
    while (column < columns_.back()) {
      columns_.pop_back();
      add(TokenKind::kDedent, at_);
    }
    if (column != columns_.back()) {
      fail(begin, "this indentation matches no line above");
      columns_.push_back(column);
      add(TokenKind::kIndent, begin);
    }
  }

  /// Detects a statement that starts inside brackets, which means that a bracket was not closed.
  void stray_brackets() {
    uint32_t at = at_;
    while (at < end_ && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    std::string_view rest = text_.substr(at, end_ - at);
    size_t length = 0;
    while (length < rest.size() && is_name_part(rest[length])) ++length;
    std::string_view word = rest.substr(0, length);
    bool statement = rest.substr(0, 1) == "@";
    for (std::string_view keyword : {"def", "class", "with", "return", "while", "import"})
      statement |= word == keyword && length < rest.size() && (rest[length] == ' ' || rest[length] == '\n');
    if (!statement) return;
    unclosed();
    add(TokenKind::kNewline, at_);
    indentation();
  }

  void unclosed() {
    Bracket open = open_.back();
    open_.clear();
    (void)source_.error({open.begin, 1}, Kind::syntax, "'{}' is never closed", text_[open.begin]);
    add(TokenKind::kError, at_);
  }

  /// Reads one token or one run of whitespace; returns whether a line ended.
  bool token() {
    uint32_t begin = at_;
    char c = peek();
    if (c == '\n') {
      ++at_;
      if (open_.empty() && !expression_) add(TokenKind::kNewline, begin);
      return true;
    }
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++at_;
    } else if (c == '#') {
      while (at_ < end_ && peek() != '\n') ++at_;
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 2 : 3;
    } else if (is_name_start(c)) {
      name(begin);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number(begin);
    } else if (c == '"' || c == '\'') {
      string(begin, false);
    } else {
      punctuation(begin);
    }
    return false;
  }

  void name(uint32_t begin) {
    while (is_name_part(peek())) ++at_;
    std::string_view word = text_.substr(begin, at_ - begin);
    bool quote = peek() == '"' || peek() == '\'';
    if (quote && (word == "r" || word == "R")) return string(begin, true);
    if (quote && (word == "f" || word == "F" || word == "b" || word == "fr" || word == "rf")) return computed(begin);
    add(TokenKind::kName, begin, std::string(word));
  }

  void number(uint32_t begin) {
    bool is_float = false;
    bool radix = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X' || peek(1) == 'b' || peek(1) == 'o');
    if (radix) {
      at_ += 2;
      while (is_name_part(peek())) ++at_;
    } else {
      while (is_digit(peek()) || peek() == '_') ++at_;
      if (peek() == '.') {
        is_float = true;
        for (++at_; is_digit(peek()) || peek() == '_';) ++at_;
      }
      bool signed_exponent = (peek(1) == '+' || peek(1) == '-') && is_digit(peek(2));
      if ((peek() == 'e' || peek() == 'E') && (is_digit(peek(1)) || signed_exponent)) {
        is_float = true;
        for (at_ += signed_exponent ? 2 : 1; is_digit(peek());) ++at_;
      }
      if (is_name_part(peek())) {
        while (is_name_part(peek())) ++at_;
        return fail(begin, "'{}' is not a number", text_.substr(begin, at_ - begin));
      }
    }
    std::string digits;
    for (char c : text_.substr(begin, at_ - begin))
      if (c != '_') digits += c;
    add(is_float ? TokenKind::kFloat : TokenKind::kInt, begin, std::move(digits));
  }

  void string(uint32_t begin, bool raw) {
    char quote = peek();
    bool triple = peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    std::string value;
    while (at_ < end_) {
      char c = peek();
      if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
        at_ += triple ? 3 : 1;
        return add(TokenKind::kString, begin, std::move(value));
      }
      if (c == '\n' && !triple) break;
      if (c == '\\' && !raw) {
        ++at_;
        if (!escape(value)) return;
      } else {
        value += c;
        ++at_;
      }
    }
    fail(begin, "this string is never closed");
  }

  /// Skips f"…" or b"…" as one string.
  void computed(uint32_t begin) {
    size_t before = tokens_.size();
    string(at_, true);
    if (tokens_.size() == before + 1 && tokens_.back().kind == TokenKind::kError) return;
    tokens_.resize(before);
    fail(begin, "{} computes while Python runs, which a module in text form cannot",
         text_[begin] == 'b' ? "a bytes string" : "an f-string");
  }

  /// Reads the character after a backslash; returns false after an error.
  bool escape(std::string& value) {
    char c = peek();
    ++at_;
    switch (c) {
      case 'n':
        value += '\n';
        return true;
      case 't':
        value += '\t';
        return true;
      case 'r':
        value += '\r';
        return true;
      case '0':
        value += '\0';
        return true;
      case '\n':
        return true;
      case '\\':
      case '\'':
      case '"':
        value += c;
        return true;
      case 'x':
        return hex_escape(value);
      default:
        break;
    }
    fail(at_ - 2, "unknown escape in a string; known are \\n \\t \\r \\0 \\\\ \\' \\\" and \\xHH");
    while (at_ < end_ && peek() != '\n') ++at_;
    return false;
  }

  bool hex_escape(std::string& value) {
    auto digit = [](char c) {
      if (is_digit(c)) return c - '0';
      char lower = static_cast<char>(c | 0x20);
      return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    };
    int high = digit(peek()), low = digit(peek(1));
    if (high < 0 || low < 0) {
      fail(at_ - 2, "\\x takes two hexadecimal digits");
      while (at_ < end_ && peek() != '\n') ++at_;
      return false;
    }
    value += static_cast<char>(high * 16 + low);
    at_ += 2;
    return true;
  }

  void punctuation(uint32_t begin) {
    static constexpr std::array<std::string_view, 23> kLong = {"...", "**=", "//=", "<<=", ">>=", "**", "//", "<<",
                                                               ">>",  "<=",  ">=",  "==",  "!=",  "->", "+=", "-=",
                                                               "*=",  "/=",  "%=",  "@=",  "&=",  "|=", "^="};
    std::string_view rest = text_.substr(at_, end_ - at_);
    for (std::string_view symbol : kLong) {
      if (rest.substr(0, symbol.size()) != symbol) continue;
      at_ += static_cast<uint32_t>(symbol.size());
      return add(TokenKind::kPunctuation, begin, std::string(symbol));
    }
    char c = peek();
    if (std::string_view("()[]{},:;.=+-*/%@<>&|^~").find(c) == std::string_view::npos) return unexpected(begin);
    ++at_;
    if (c == '(' || c == '[' || c == '{') {
      open_.push_back({c == '(' ? ')' : c == '[' ? ']' : '}', begin});
    } else if (c == ')' || c == ']' || c == '}') {
      if (open_.empty()) return fail(begin, "'{}' closes nothing", c);
      Bracket open = open_.back();
      if (open.closing != c) {
        fail(begin, "'{}' does not close '{}'", c, text_[open.begin]);
        source_.note({open.begin, 1}, "opened here");
      }
      open_.pop_back();
    }
    add(TokenKind::kPunctuation, begin, std::string(1, c));
  }

  /// Reports one error for a run of bytes that start no token.
  void unexpected(uint32_t begin) {
    auto foreign = [&](char c) { return !is_graphic(c) && c != '\n' && c != '\t' && c != '\r'; };
    if (foreign(peek())) {
      while (at_ < end_ && foreign(peek())) ++at_;
      return fail(begin, "unexpected byte 0x{:02x}", static_cast<unsigned char>(text_[begin]));
    }
    ++at_;
    fail(begin, "unexpected character '{}'", text_[begin]);
  }

  void finish() {
    if (!open_.empty()) unclosed();
    if (!expression_) {
      add(TokenKind::kNewline, at_);
      for (; columns_.size() > 1; columns_.pop_back()) add(TokenKind::kDedent, at_);
    }
    add(TokenKind::kEnd, at_);
  }

  SourceText& source_;
  std::string_view text_;
  uint32_t at_, end_;
  bool expression_;
  std::vector<uint32_t> columns_ = {0};
  std::vector<Bracket> open_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(SourceText& source) {
  return Lexer(source, {0, static_cast<uint32_t>(source.text().size())}, false).run();
}

std::vector<Token> tokenize_expression(SourceText& source, Place place) {
  return Lexer(source, place, true).run();
}

}  // namespace relaxc::frontend
