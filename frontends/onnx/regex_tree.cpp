// regex_tree.cpp: parses RE2's syntax: https://github.com/google/re2/wiki/Syntax.
//
// Greedy and lazy repetition match the same whole strings, and so do capturing and other groups: both differences are
// parsed and ignored. Letters fold case by ASCII only.
#include "frontends/onnx/regex_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace relaxc::frontend::regex {
namespace {

constexpr uint32_t kLastCode = 0x10ffff;
constexpr int kDeepest = 200, kMostRepeats = 1000;

using Ranges = std::vector<Range>;

Ranges normal(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.low < b.low; });
  Ranges out;
  for (const Range& range : ranges)
    if (!out.empty() && range.low <= out.back().high + 1)
      out.back().high = std::max(out.back().high, range.high);
    else
      out.push_back(range);
  return out;
}

Ranges inverted(const Ranges& ranges) {
  Ranges out;
  uint32_t from = 0;
  for (const Range& range : normal(ranges)) {
    if (range.low > from) out.push_back({from, range.low - 1});
    from = range.high + 1;
  }
  if (from <= kLastCode) out.push_back({from, kLastCode});
  return out;
}

Ranges digits() {
  return {{'0', '9'}};
}
Ranges words() {
  return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
}
Ranges blanks() {
  return {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
}

/// Returns the ranges of \d, \W and the like; nullopt for other letters.
std::optional<Ranges> perl_class(char letter) {
  switch (letter) {
    case 'd':
      return digits();
    case 'D':
      return inverted(digits());
    case 'w':
      return words();
    case 'W':
      return inverted(words());
    case 's':
      return blanks();
    case 'S':
      return inverted(blanks());
    default:
      return std::nullopt;
  }
}

std::optional<Ranges> posix_class(std::string_view name) {
  const std::map<std::string_view, Ranges> kClasses{{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
                                                    {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
                                                    {"ascii", {{0, 127}}},
                                                    {"blank", {{'\t', '\t'}, {' ', ' '}}},
                                                    {"cntrl", {{0, 31}, {127, 127}}},
                                                    {"digit", digits()},
                                                    {"graph", {{'!', '~'}}},
                                                    {"lower", {{'a', 'z'}}},
                                                    {"print", {{' ', '~'}}},
                                                    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
                                                    {"space", {{'\t', '\r'}, {' ', ' '}}},
                                                    {"upper", {{'A', 'Z'}}},
                                                    {"word", words()},
                                                    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
  auto found = kClasses.find(name);
  return found == kClasses.end() ? std::nullopt : std::optional(found->second);
}

/// A recursive-descent parser. After the first error the rest of the pattern is empty, so every function returns.
class Parser {
 public:
  explicit Parser(std::string_view pattern) : rest_(pattern), size_(pattern.size()) {}

  std::variant<Tree, std::string> run() {
    tree_.root = choice();
    if (!rest_.empty()) fail("there is a ')' without '('");
    if (fault_) return *fault_;
    return std::move(tree_);
  }

 private:
  struct Flags {
    bool fold = false, dot_all = false;
  };

  void fail(const std::string& text) {
    if (!fault_) fault_ = fmt::format("{} at byte {}", text, size_ - rest_.size());
    rest_ = {};
  }
  bool ok() const { return !fault_; }
  bool at(std::string_view text) const { return rest_.substr(0, text.size()) == text; }
  bool take(std::string_view text) {
    if (!at(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  /// Returns the next byte; at the end of the pattern, reports an error and returns 0.
  char next() {
    if (rest_.empty()) return fail("the pattern ends too early"), '\0';
    char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }

  int add(Node node) {
    tree_.nodes.push_back(std::move(node));
    return static_cast<int>(tree_.nodes.size()) - 1;
  }
  int add_class(Ranges ranges) { return add({.kind = Kind::kClass, .ranges = normal(std::move(ranges))}); }

  int choice() {
    if (++depth_ > kDeepest) fail(fmt::format("groups are nested more than {} deep", kDeepest));
    Flags outer = flags_;
    std::vector<int> ways{sequence()};
    while (take("|")) ways.push_back(sequence());
    flags_ = outer;
    --depth_;
    return ways.size() == 1 ? ways[0] : add({.kind = Kind::kChoice, .children = std::move(ways)});
  }

  int sequence() {
    std::vector<int> parts;
    while (!rest_.empty() && !at("|") && !at(")")) {
      std::optional<int> atom = this->atom();
      if (atom) parts.push_back(repeated(*atom));
    }
    return add({.kind = Kind::kSequence, .children = std::move(parts)});
  }

  /// Returns nullopt for a group that only sets flags.
  std::optional<int> atom() {
    if (take("(?")) return special_group();
    if (take("(")) return closed(choice());
    if (take("[")) return bracket();
    if (take(".")) return add_class(flags_.dot_all ? Ranges{{0, kLastCode}} : inverted({{'\n', '\n'}}));
    if (take("^")) return add({.kind = Kind::kAssert, .assertion = Assertion::kBegin});
    if (take("$")) return add({.kind = Kind::kAssert, .assertion = Assertion::kEnd});
    if (take("\\")) return escaped();
    if (at("*") || at("+") || at("?")) fail("there is nothing to repeat");
    return add_class(folded({{code(), 0}}));
  }

  int closed(int node) {
    if (!take(")")) fail("a '(' is not closed");
    return node;
  }

  std::optional<int> special_group() {
    if (take("P<") || (at("<") && !at("<=") && !at("<!") && take("<"))) {
      while (ok() && next() != '>') {
      }
      return closed(choice());
    }
    if (at("=") || at("!") || at("<")) fail("look-around is not part of the syntax");
    Flags flags = flags_;
    bool on = true;
    while (ok()) {
      char c = next();
      if (c == ')') {  // these flags hold until the end of the enclosing group
        flags_ = flags;
        return std::nullopt;
      }
      if (c == ':') {
        Flags outer = flags_;
        flags_ = flags;
        int node = closed(choice());
        flags_ = outer;
        return node;
      }
      if (c == '-') {
        on = false;
      } else if (c == 'i') {
        flags.fold = on;
      } else if (c == 's') {
        flags.dot_all = on;
      } else if (c != 'U') {  // swapping greedy and lazy does not change whether a whole string matches
        fail(fmt::format("the flag '{}' is not supported", c));
      }
    }
    return std::nullopt;
  }

  int repeated(int node) {
    for (;;) {
      int least = 0, most = -1;
      if (take("*")) {
      } else if (take("+")) {
        least = 1;
      } else if (take("?")) {
        most = 1;
      } else if (!counted(least, most)) {
        return node;
      }
      static_cast<void>(take("?"));
      node = add({.kind = Kind::kRepeat, .children = {node}, .least = least, .most = most});
    }
  }

  /// Parses {2}, {2,} or {2,5}; other text in braces is literal.
  bool counted(int& least, int& most) {
    std::string_view before = rest_;
    auto number = [&](int& value) {
      value = 0;
      size_t digits = 0;
      for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9' && digits < 5; ++digits)
        value = value * 10 + (next() - '0');
      return digits > 0;
    };
    bool formed = take("{") && number(least);
    if (formed && take(",")) {
      if (!number(most)) most = -1;
    } else {
      most = least;
    }
    formed = formed && take("}");
    if (!formed) {
      rest_ = before;
      return false;
    }
    if (least > kMostRepeats || most > kMostRepeats || (most >= 0 && most < least))
      fail(fmt::format("a repetition must be of at most {}, in ascending order", kMostRepeats));
    return true;
  }

  /// Reads one UTF-8 code point of the pattern.
  uint32_t code() {
    auto first = static_cast<unsigned char>(next());
    if (first < 0x80) return first;
    int more = first >= 0xf8 ? -1 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : -1;
    if (more < 0) return fail("the pattern is not UTF-8"), 0;
    uint32_t value = first & (0x3fu >> more);
    for (; more > 0; --more) {
      auto byte = static_cast<unsigned char>(next());
      if ((byte & 0xc0) != 0x80) fail("the pattern is not UTF-8");
      value = value << 6 | (byte & 0x3f);
    }
    return value;
  }

  /// Returns the ranges, with both cases of ASCII letters under the flag i. A range {c, 0} is the one code point c.
  Ranges folded(Ranges ranges) const {
    for (Range& range : ranges)
      if (range.high < range.low) range.high = range.low;
    if (!flags_.fold) return ranges;
    Ranges all = ranges;
    for (const Range& range : ranges)
      for (uint32_t c = 'A'; c <= 'Z'; ++c) {
        if (c >= range.low && c <= range.high) all.push_back({c + 32, c + 32});
        if (c + 32 >= range.low && c + 32 <= range.high) all.push_back({c, c});
      }
    return all;
  }

  int escaped() {
    if (!rest_.empty()) {
      if (std::optional<Ranges> ranges = perl_class(rest_[0])) return next(), add_class(*ranges);
      const std::map<char, Assertion> kAssertions{
          {'A', Assertion::kBegin}, {'z', Assertion::kEnd}, {'b', Assertion::kBoundary}, {'B', Assertion::kNoBoundary}};
      if (auto found = kAssertions.find(rest_[0]); found != kAssertions.end())
        return next(), add({.kind = Kind::kAssert, .assertion = found->second});
    }
    return add_class(folded({{escaped_code(), 0}}));
  }

  uint32_t escaped_code() {
    char c = next();
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'a':
        return '\a';
      case 'x':
        return hexadecimal();
      default:
        break;
    }
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';
    if (digit) fail("back references are not part of the syntax");
    if (letter) fail(fmt::format("the escape \\{} is not supported", c));
    return static_cast<unsigned char>(c);
  }

  uint32_t hexadecimal() {
    bool braces = take("{");
    uint32_t value = 0;
    int digits = 0;
    for (; !rest_.empty() && (braces ? digits < 6 : digits < 2); ++digits) {
      char c = rest_[0];
      int digit = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
      if (digit < 0) break;
      value = value * 16 + static_cast<uint32_t>(digit);
      next();
    }
    if (digits == 0 || (!braces && digits != 2) || (braces && !take("}")) || value > kLastCode)
      fail("\\x takes two hexadecimal digits, or up to six in braces");
    return value;
  }

  int bracket() {
    bool negated = take("^");
    Ranges all;
    for (bool first = true; first || !at("]"); first = false) {
      if (rest_.empty()) return fail("a '[' is not closed"), 0;
      if (take("[:")) {
        add_posix(all);
        continue;
      }
      if (at("\\") && rest_.size() > 1)
        if (std::optional<Ranges> ranges = perl_class(rest_[1])) {
          take("\\"), next();
          all.insert(all.end(), ranges->begin(), ranges->end());
          continue;
        }
      uint32_t low = take("\\") ? escaped_code() : code(), high = low;
      if (at("-") && rest_.size() > 1 && rest_[1] != ']') {
        take("-");
        high = take("\\") ? escaped_code() : code();
      }
      if (high < low) fail("a range goes backwards");
      Ranges part = folded({{low, high}});
      all.insert(all.end(), part.begin(), part.end());
    }
    take("]");
    return add_class(negated ? inverted(all) : all);
  }

  void add_posix(Ranges& all) {
    bool negated = take("^");
    size_t end = rest_.find(":]");
    std::optional<Ranges> ranges = end == std::string_view::npos ? std::nullopt : posix_class(rest_.substr(0, end));
    if (!ranges) return fail("this class in [: :] is not known");
    rest_.remove_prefix(end + 2);
    Ranges part = negated ? inverted(*ranges) : *ranges;
    all.insert(all.end(), part.begin(), part.end());
  }

  std::string_view rest_;
  size_t size_;
  Tree tree_;
  Flags flags_;
  int depth_ = 0;
  std::optional<std::string> fault_;
};

}  // namespace

std::variant<Tree, std::string> parse(std::string_view pattern) {
  return Parser(pattern).run();
}

}  // namespace relaxc::frontend::regex
