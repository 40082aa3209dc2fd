// expression_grammar.cpp: parses the expressions of Python that modules use.
//
// Refused by their names: lambda outside of T.index_map, comprehensions, f-strings, sets, walrus, `is`, `in`. They
// compute while Python runs, and there is no Python here.
#include "frontends/relax/text/expression_grammar.h"

#include <algorithm>
#include <optional>

#include "frontends/relax/text/unsupported_aot.h"

namespace relaxc::frontend {

using ast::Expr;
using AstKind = ast::ExprKind;

namespace {

constexpr int kDeepestNesting = 200;
constexpr uint32_t kDeepestTree = 400;

struct Operator {
  std::string_view text;
  int level;
};
constexpr int kCompareLevel = 4, kUnaryLevel = 11, kNotLevel = 3;
constexpr Operator kBinary[] = {
    {"or", 1}, {"and", 2}, {"<", 4},  {"<=", 4}, {">", 4}, {">=", 4}, {"==", 4}, {"!=", 4},  {"|", 5},  {"^", 6},
    {"&", 7},  {"<<", 8},  {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"//", 10}, {"%", 10}, {"@", 10},
};

constexpr std::string_view kReserved[] = {"and",  "as",    "assert", "break",   "class",  "continue", "def",   "del",
                                          "elif", "else",  "except", "finally", "for",    "from",     "if",    "import",
                                          "in",   "is",    "lambda", "not",     "or",     "pass",     "raise", "return",
                                          "try",  "while", "with",   "yield",   "global", "nonlocal"};

/// Increments a nesting depth while it lives.
struct Level {
  explicit Level(int& depth) : depth(++depth) {}
  ~Level() { --depth; }
  int& depth;
};

std::optional<int> level_of(const Token& token) {
  if (token.kind != TokenKind::kPunctuation && token.kind != TokenKind::kName) return std::nullopt;
  for (const Operator& op : kBinary)
    if (op.text == token.text) return op.level;
  return std::nullopt;
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kNewline:
      return "the end of the line";
    case TokenKind::kIndent:
      return "an indented line";
    case TokenKind::kDedent:
      return "the end of the block";
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kString:
      return "a string";
    default:
      return "'" + token.text + "'";
  }
}

}  // namespace

Expr* ExpressionGrammar::make(AstKind kind, Place place, std::vector<const Expr*> items, std::string text) {
  uint32_t depth = 1;
  for (const Expr* item : items)
    if (item != nullptr) depth = std::max(depth, item->depth + 1);
  if (depth > kDeepestTree) {
    (void)source_.error(place, Kind::syntax, "this expression is more than {} levels deep; give names to its parts",
                        kDeepestTree);
    return nullptr;
  }
  return &tree_.exprs.emplace_back(Expr{kind, place, std::move(text), std::move(items), {}, depth});
}

void ExpressionGrammar::unexpected(std::string_view wanted) {
  if (peek().kind == TokenKind::kError) return;
  Place place = peek().place;
  if (place.length == 0) place.length = 1;
  (void)source_.error(place, Kind::syntax, "expected {}, found {}", wanted, describe(peek()));
}

bool ExpressionGrammar::expect(std::string_view text, std::string_view after) {
  if (accept(text)) return true;
  unexpected(fmt::format("'{}' after {}", text, after));
  return false;
}

bool ExpressionGrammar::at_end_of_list() const {
  TokenKind kind = peek().kind;
  return kind == TokenKind::kNewline || kind == TokenKind::kEnd || next_is(")") || next_is("]") || next_is("}") ||
         next_is("=") || next_is(":") || next_is(";");
}

const Expr* ExpressionGrammar::expression_list() {
  const Expr* first = expression();
  if (first == nullptr || !next_is(",")) return first;
  std::vector<const Expr*> items = {first};
  while (accept(",")) {
    if (at_end_of_list()) break;
    const Expr* item = expression();
    if (item == nullptr) return nullptr;
    items.push_back(item);
  }
  Place place = join(first->place, items.back()->place);
  return make(AstKind::kTuple, place, std::move(items));
}

const Expr* ExpressionGrammar::target_list() {
  std::vector<const Expr*> items;
  bool comma = false;
  do {
    if (next_is("in")) break;
    const bool starred = accept("*");
    const Expr* item = postfix();
    if (item == nullptr) return nullptr;
    items.push_back(starred ? make(AstKind::kStarred, item->place, {item}) : item);
  } while (accept(",") && (comma = true));
  if (items.empty()) return unexpected("a loop variable"), nullptr;
  if (items.size() == 1 && !comma) return items[0];
  Place place = join(items.front()->place, items.back()->place);
  return make(AstKind::kTuple, place, std::move(items));
}

bool ExpressionGrammar::too_deep() {
  if (nesting_ <= kDeepestNesting) return false;
  (void)source_.error(peek().place, Kind::syntax, "nested more than {} levels deep; give names to the parts",
                      kDeepestNesting);
  return true;
}

const Expr* ExpressionGrammar::expression() {
  Level level(nesting_);
  if (too_deep()) return nullptr;
  if (accept("*")) {
    const Expr* value = expression();
    return value == nullptr ? nullptr : make(AstKind::kStarred, value->place, {value});
  }
  const Expr* value = binary(1);
  if (value == nullptr || !accept("if")) return value;
  const Expr* condition = binary(1);
  if (condition == nullptr || !expect("else", "the condition")) return nullptr;
  const Expr* otherwise = expression();
  if (otherwise == nullptr) return nullptr;
  return make(AstKind::kIfElse, join(value->place, otherwise->place), {value, condition, otherwise});
}

const Expr* ExpressionGrammar::binary(int least) {
  const Expr* left = prefix();
  const Expr* chained = nullptr;  // b of `a < b`, when `< c` follows
  while (left != nullptr) {
    // `in` ends the target of a `for` and is not an operator there; the grammar never asks for one with `binary`.
    bool membership = next_is("is") || next_is("in") || (next_is("not") && peek(1).text == "in");
    if (membership && least <= kCompareLevel) return python_only(peek().place, "'" + peek().text + "'");
    std::optional<int> level = level_of(peek());
    if (!level || *level < least) return left;
    Token op = take();
    const Expr* right = binary(*level + 1);
    if (right == nullptr) return nullptr;
    if (*level == kCompareLevel && chained != nullptr) {
      const Expr* next = make(AstKind::kCompare, join(chained->place, right->place), {chained, right}, op.text);
      if (next == nullptr) return nullptr;
      left = make(AstKind::kBoolOp, join(left->place, right->place), {left, next}, "and");
    } else {
      AstKind kind = *level == kCompareLevel ? AstKind::kCompare : *level <= 2 ? AstKind::kBoolOp : AstKind::kBinary;
      left = make(kind, join(left->place, right->place), {left, right}, op.text);
    }
    chained = *level == kCompareLevel ? right : nullptr;
  }
  return nullptr;
}

const Expr* ExpressionGrammar::prefix() {
  bool negation = next_is("not");
  if (!negation && !next_is("-") && !next_is("+") && !next_is("~")) return postfix();
  Level level(nesting_);
  if (too_deep()) return nullptr;
  Token op = take();
  const Expr* value = negation ? binary(kNotLevel) : binary(kUnaryLevel);
  return value == nullptr ? nullptr : make(AstKind::kUnary, join(op.place, value->place), {value}, op.text);
}

const Expr* ExpressionGrammar::postfix() {
  const Expr* value = atom();
  while (value != nullptr) {
    if (accept(".")) {
      if (peek().kind != TokenKind::kName) return unexpected("a name after '.'"), nullptr;
      Token name = take();
      value = make(AstKind::kAttribute, join(value->place, name.place), {value}, name.text);
    } else if (next_is("(")) {
      value = call(value);
    } else if (next_is("[")) {
      value = subscript(value);
    } else if (accept("**")) {
      Level level(nesting_);  // a ** b ** c is a ** (b ** c)
      if (too_deep()) return nullptr;
      const Expr* power = prefix();
      value =
          power == nullptr ? nullptr : make(AstKind::kBinary, join(value->place, power->place), {value, power}, "**");
    } else {
      return value;
    }
  }
  return nullptr;
}

/// Parses `lambda i, j: (j, i)`, which is the map of a T.index_map, and the only function of Python that is data.
const Expr* ExpressionGrammar::lambda() {
  Token keyword = take();
  std::vector<const Expr*> items;
  while (peek().kind == TokenKind::kName) {
    Token name = take();
    items.push_back(make(AstKind::kName, name.place, {}, name.text));
    if (!accept(",")) break;
  }
  if (!expect(":", "the parameters")) return nullptr;
  const Expr* body = expression();
  if (body == nullptr) return nullptr;
  items.push_back(body);
  return make(AstKind::kLambda, join(keyword.place, body->place), std::move(items));
}

const Expr* ExpressionGrammar::call(const Expr* callee) {
  take();
  bool map = callee->is(AstKind::kAttribute) && callee->text == "index_map";
  std::vector<const Expr*> items = {callee};
  std::vector<ast::Keyword> keywords;
  while (!next_is(")")) {
    if (peek().kind == TokenKind::kName && peek(1).kind == TokenKind::kPunctuation && peek(1).text == "=") {
      Token name = take();
      take();
      const Expr* value = expression();
      if (value == nullptr) return nullptr;
      for (const ast::Keyword& other : keywords)
        if (other.name == name.text)
          return (void)source_.error(name.place, Kind::syntax, "'{}' is given twice", name.text), nullptr;
      keywords.push_back({name.text, name.place, value});
    } else {
      if (accept("**")) return python_only(peek().place, "'**' of a call");
      const Expr* value = map && next_is("lambda") ? lambda() : expression();
      if (value == nullptr) return nullptr;
      if (next_is("for")) return python_only(peek().place, "a comprehension");
      if (!keywords.empty())
        return (void)source_.error(value->place, Kind::syntax, "a positional argument after a named one"), nullptr;
      items.push_back(value);
    }
    if (!accept(",")) break;
  }
  Place end = peek().place;
  if (!next_is(")")) return unexpected("',' or ')'"), nullptr;
  take();
  Expr* made = make(AstKind::kCall, join(callee->place, end), std::move(items));
  if (made == nullptr) return nullptr;
  for (const ast::Keyword& keyword : keywords) made->depth = std::max(made->depth, keyword.value->depth + 1);
  made->keywords = std::move(keywords);
  return made;
}

const Expr* ExpressionGrammar::subscript_item() {
  std::vector<const Expr*> parts;
  bool slice = false;
  Place place = peek().place;
  for (int part = 0; part < 3; ++part) {
    const Expr* value = nullptr;
    if (!next_is(":") && !next_is("]") && !next_is(",")) {
      value = expression();
      if (value == nullptr) return nullptr;
      place = join(place, value->place);
    }
    parts.push_back(value);
    if (!accept(":")) break;
    slice = true;
  }
  if (!slice && parts[0] == nullptr) return unexpected("a subscript"), nullptr;
  if (!slice) return parts[0];
  parts.resize(3);
  return make(AstKind::kSlice, place, std::move(parts));
}

const Expr* ExpressionGrammar::subscript(const Expr* base) {
  take();
  std::vector<const Expr*> items = {base};
  while (!next_is("]")) {
    const Expr* item = subscript_item();
    if (item == nullptr) return nullptr;
    items.push_back(item);
    if (!accept(",")) break;
  }
  Place end = peek().place;
  if (!next_is("]")) return unexpected("',' or ']'"), nullptr;
  take();
  return make(AstKind::kSubscript, join(base->place, end), std::move(items));
}

const Expr* ExpressionGrammar::atom() {
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::kName:
      return name_or_constant();
    case TokenKind::kInt:
    case TokenKind::kFloat: {
      Token number = take();
      return make(number.kind == TokenKind::kInt ? AstKind::kInt : AstKind::kFloat, number.place, {}, number.text);
    }
    case TokenKind::kString:
      return string_atom();
    default:
      break;
  }
  if (next_is("(") || next_is("[")) return bracketed();
  if (next_is("{")) return dict();
  if (next_is("...")) return make(AstKind::kEllipsis, take().place);
  unexpected("an expression");
  return nullptr;
}

/// Reports syntax that only Python can evaluate.
const Expr* ExpressionGrammar::python_only(Place place, std::string_view what) {
  (void)source_.error(place, Kind::unsupported, "{} computes while Python runs, which a module in text form cannot",
                      what);
  return nullptr;
}

const Expr* ExpressionGrammar::name_or_constant() {
  const Token& token = peek();
  if (token.text == "lambda" || is_python_statement(token.text))
    return python_only(token.place, "'" + token.text + "'");
  if (std::find(std::begin(kReserved), std::end(kReserved), token.text) != std::end(kReserved)) {
    unexpected("an expression");
    return nullptr;
  }
  Token name = take();
  if (name.text == "True") return make(AstKind::kTrue, name.place);
  if (name.text == "False") return make(AstKind::kFalse, name.place);
  if (name.text == "None") return make(AstKind::kNone, name.place);
  return make(AstKind::kName, name.place, {}, name.text);
}

/// Parses adjacent strings, which are concatenated.
const Expr* ExpressionGrammar::string_atom() {
  Token first = take();
  Place place = first.place;
  std::string text = first.text;
  while (peek().kind == TokenKind::kString) {
    Token more = take();
    text += more.text;
    place = join(place, more.place);
  }
  return make(AstKind::kString, place, {}, std::move(text));
}

const Expr* ExpressionGrammar::bracketed() {
  Token open = take();
  bool is_list = open.text == "[";
  std::string_view closing = is_list ? "]" : ")";
  std::vector<const Expr*> items;
  bool comma = false;
  while (!next_is(closing)) {
    const Expr* item = expression();
    if (item == nullptr) return nullptr;
    items.push_back(item);
    if (next_is("for")) return python_only(peek().place, "a comprehension");
    if (next_is(":") && peek(1).text == "=") return python_only(peek().place, "':='");
    if (!accept(",")) break;
    comma = true;
  }
  Place end = peek().place;
  if (!next_is(closing)) return unexpected(fmt::format("',' or '{}'", closing)), nullptr;
  take();
  if (!is_list && items.size() == 1 && !comma) return items[0];
  return make(is_list ? AstKind::kList : AstKind::kTuple, join(open.place, end), std::move(items));
}

const Expr* ExpressionGrammar::dict() {
  Token open = take();
  std::vector<const Expr*> items;
  while (!next_is("}")) {
    const Expr* key = expression();
    if (key == nullptr) return nullptr;
    if (items.empty() && (next_is(",") || next_is("}"))) return python_only(open.place, "a set");
    if (!expect(":", "a key")) return nullptr;
    const Expr* value = expression();
    if (value == nullptr) return nullptr;
    if (next_is("for")) return python_only(peek().place, "a comprehension");
    items.push_back(key);
    items.push_back(value);
    if (!accept(",")) break;
  }
  Place end = peek().place;
  if (!next_is("}")) return unexpected("',' or '}'"), nullptr;
  take();
  return make(AstKind::kDict, join(open.place, end), std::move(items));
}

}  // namespace relaxc::frontend
