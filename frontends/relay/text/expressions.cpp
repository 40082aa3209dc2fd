// expressions.cpp: the grammar of Relay's expressions.
#include <algorithm>
#include <optional>

#include "compiler/support/dtype.h"
#include "frontends/relay/text/grammar.h"

namespace relaxc::relay {

using ast::ExprKind;
using ast::StmtKind;

namespace {

constexpr int kDeepestNesting = 100;
constexpr uint32_t kDeepestTree = 200;

/// Infix operators; a higher precedence binds more tightly.
struct Infix {
  std::string_view text, op;
  int precedence;
};
constexpr Infix kInfix[] = {
    {"==", "equal", 1},   {"!=", "not_equal", 1},     {"<", "less", 2}, {"<=", "less_equal", 2},
    {">", "greater", 2},  {">=", "greater_equal", 2}, {"+", "add", 3},  {"-", "subtract", 3},
    {"*", "multiply", 4}, {"/", "divide", 4},
};

/// Keywords of Relay that relaxc does not support.
struct Foreign {
  std::string_view keyword, what;
};
constexpr Foreign kForeign[] = {
    {"RefRead", "references"},
    {"RefWrite", "references"},
    {"extern", "external functions"},
};

}  // namespace

/// Parses bindings, and the value after them.
Grammar::Expr Grammar::expression() {
  if (nesting_ >= kDeepestNesting)
    return refuse(peek().place, Kind::syntax, "nested more than {} levels deep", kDeepestNesting);
  ++nesting_;
  bool ok = true, last = std::exchange(last_, false);
  Expr value = nullptr;
  while (ok) {
    if (peek().is_name("let")) {
      ok = let();
    } else if (peek().kind == TokenKind::kGraph && peek(1).is("=")) {
      ok = numbered_binding();
    } else {
      if (last && peek().is_name("if"))
        value = branch(true);
      else if (last && peek().is_name("match"))
        value = match(true);
      else
        value = infix(0);
      break;
    }
  }
  --nesting_;
  last_ = last;
  return value;
}

/// Parses `let %x: T = value;`. A function is declared before its body, so that it may call itself.
bool Grammar::let() {
  take();
  Token variable = take();
  if (variable.kind != TokenKind::kLocal) {
    --at_;
    unexpected("a variable such as %x");
    return false;
  }
  Type* declared = nullptr;
  if (accept(":")) {
    const bool refers = peek().is_name("ref");  // the value says whether it is a reference
    if (refers && (take(), !expect("(", "behind 'ref'"))) return false;
    size_t begin = at_;
    if (type(Unknown::kRank, variable.text) == nullptr) return false;
    if (infers_) declared = written_type(begin);
    if (refers && !expect(")", "behind the type of a reference")) return false;
  }
  if (!expect("=", "behind a variable")) return false;
  Expr value = nullptr;
  if (peek().is_name("fn")) {
    value = closure(declare(variable.text));
  } else if (at_reference()) {
    value = reference();
    if (value != nullptr) scopes_.back().locals[variable.text] = value->text;
  } else {
    value = infix(0);
    if (value != nullptr) scopes_.back().locals[variable.text] = named(value, variable.text, variable.place)->text;
  }
  if (value != nullptr && declared != nullptr && !types_.unify(declared, type_of(value)))
    return refuse(variable.place, Kind::dtype_mismatch, "'%{}' is declared {}, and its value is {}", variable.text,
                  types_.text(declared), types_.text(type_of(value))) != nullptr;
  return value != nullptr && expect(";", "behind a binding");
}

/// Parses `%3 = value;`.
bool Grammar::numbered_binding() {
  Token variable = take();
  take();
  numbered_at_[variable.text] = at_;
  Expr value = at_reference() ? reference() : infix(0);
  if (value == nullptr) return false;
  scopes_.back().numbered[variable.text] = named(value, "v" + variable.text, variable.place);
  return expect(";", "behind a binding");
}

Grammar::Expr Grammar::infix(int least) {
  Expr left = postfix();
  while (left != nullptr) {
    auto row = std::find_if(std::begin(kInfix), std::end(kInfix), [&](const Infix& op) { return peek().is(op.text); });
    if (row == std::end(kInfix) || row->precedence <= least) break;
    Place place = take().place;
    Expr right = infix(row->precedence);
    if (right == nullptr) return nullptr;
    Expr callee = make(ExprKind::kAttribute, place, {name(place, "relay")}, std::string(row->op));
    Type* made = infers_ ? type_of_call(callee, {left, right}, "") : nullptr;
    left = make(ExprKind::kCall, join(left->place, right->place), {callee, left, right});
    if (made != nullptr) types_of_[left] = made;
    if (left->depth > kDeepestTree) left = named(left, "sum", place);
  }
  return left;
}

/// Parses calls and tuple fields after an expression.
Grammar::Expr Grammar::postfix() {
  Expr value = atom();
  while (value != nullptr) {
    if (peek().is("("))
      value = call(value);
    else if (peek().is("."))
      value = part(value);
    else
      break;
    if (value != nullptr && value->depth > kDeepestTree) value = named(value, "value", value->place);
  }
  return value;
}

Grammar::Expr Grammar::atom() {
  const Token& token = peek();
  if (token.is("(")) return tuple();
  switch (token.kind) {
    case TokenKind::kGraph:
      return numbered(take());
    case TokenKind::kLocal:
      return local(take());
    case TokenKind::kGlobal:
      return global(take());
    case TokenKind::kNumber:
      return constant();
    case TokenKind::kMeta:
      return stored_constant();
    case TokenKind::kName:
      return name_atom();
    default:
      return unexpected("an expression");
  }
}

Grammar::Expr Grammar::name_atom() {
  const Token& token = peek();
  if (token.text == "True" || token.text == "False") return constant();
  if (token.text == "if") return branch(false);
  if (token.text == "fn") return closure(unique("fn"));
  if (token.text == "match") return match(false);
  if (token.text == "ref_read") return read_reference();
  if (token.text == "ref_write") return write_reference();
  if (token.text == "ref")
    return refuse(token.place, Kind::unsupported, "a reference can only be bound to a variable, read and written");
  for (const Foreign& row : kForeign)
    if (row.keyword == token.text) return refuse(token.place, Kind::unsupported, "{} are not supported", row.what);
  if (constructors_.count(token.text) != 0) return construct();
  Token op = take();
  if (!peek().is("(")) return refuse(op.place, Kind::unsupported, "the operator '{}' is not a value; call it", op.text);
  return make(ExprKind::kAttribute, op.place, {name(op.place, "relay")}, op.text);
}

/// Parses `f(a, b, key=value)` after f.
Grammar::Expr Grammar::call(Expr callee) {
  Place begin = callee->place;
  take();
  std::vector<Expr> items{callee};
  std::vector<ast::Keyword> keywords;
  std::string attributes_text;
  while (!peek().is(")")) {
    if (peek().kind == TokenKind::kName && peek(1).is("=")) {
      Token key = take();
      take();
      Expr value = named_attribute();
      if (value == nullptr) return nullptr;
      if (infers_ && !value->is(ExprKind::kNone)) {
        const uint32_t end = tokens_[at_ - 1].place.end();
        attributes_text += (items.size() == 1 && keywords.empty() ? "" : ", ") +
                           source_.text().substr(key.place.begin, end - key.place.begin);
      }
      if (key.text != "attrs_type_key") keywords.push_back({key.text, key.place, value});
    } else {
      bool attributes = peek().kind == TokenKind::kMeta && peek().text.find("attrs") != std::string::npos;
      if (attributes)
        return refuse(peek().place, Kind::unsupported, "attributes in the metadata are not supported, found meta[{}]",
                      peek().text);
      Expr value = expression();
      if (value == nullptr) return nullptr;
      items.push_back(value);
    }
    if (!accept(",")) break;
  }
  Place whole = join(begin, peek().place);
  if (!expect(")", "behind arguments")) return nullptr;
  uint32_t depth = 1;
  for (const ast::Keyword& keyword : keywords) depth = std::max(depth, keyword.value->depth + 1);
  for (Expr item : items) depth = std::max(depth, item->depth + 1);
  ast::Expr& made =
      tree_.exprs.emplace_back(ast::Expr{ExprKind::kCall, whole, {}, std::move(items), std::move(keywords), depth});
  if (infers_) types_of_[&made] = type_of_call(callee, {made.items.begin() + 1, made.items.end()}, attributes_text);
  return &made;
}

/// Parses `.0`, or `.0.1`, which is one token after the dot.
Grammar::Expr Grammar::part(Expr tuple) {
  take();
  Token number = take();
  bool fits = number.kind == TokenKind::kNumber && number.text.find_first_not_of("0123456789.") == std::string::npos;
  if (!fits) {
    --at_;
    return unexpected("the number of a part");
  }
  size_t begin = 0;
  while (begin < number.text.size()) {
    size_t dot = std::min(number.text.find('.', begin), number.text.size());
    Expr index = make(ExprKind::kInt, number.place, {}, number.text.substr(begin, dot - begin));
    tuple = make(ExprKind::kSubscript, join(tuple->place, number.place), {tuple, index});
    if (tuple->depth > kDeepestTree) return too_deep(number.place);
    begin = dot + 1;
  }
  return tuple;
}

/// Parses `()`, `(x,)`, `(x, y)`, or an expression in parentheses.
Grammar::Expr Grammar::tuple() {
  Place begin = take().place;
  std::vector<Expr> fields;
  bool comma = false;
  while (!peek().is(")")) {
    Expr field = expression();
    if (field == nullptr) return nullptr;
    fields.push_back(field);
    if (!accept(",")) break;
    comma = true;
  }
  Place whole = join(begin, peek().place);
  if (!expect(")", "behind an expression")) return nullptr;
  if (fields.size() == 1 && !comma) return fields[0];
  if (fields.empty()) {
    Expr made = relax_call(whole, "tuple", {});
    return infers_ ? typed(made, types_.compound(Type::kTuple, {})) : made;
  }
  return make(ExprKind::kTuple, whole, std::move(fields));
}

/// Parses `if (c) { a } else { b }`. Both sides bind one name, or return if the branch ends a function (`last`).
Grammar::Expr Grammar::branch(bool last) {
  Place place = take().place;
  if (!expect("(", "behind 'if'")) return nullptr;
  Expr condition = expression();
  if (condition == nullptr || !expect(")", "behind a condition")) return nullptr;
  std::string result = last ? std::string() : unique("branch");
  Suite sides[2];
  Expr first = branch_value(sides[0], last, result);
  if (first == nullptr || !expect("else", "behind the first branch")) return nullptr;
  Expr second = branch_value(sides[1], last, result);
  if (second == nullptr) return nullptr;
  if (infers_ && !last) {
    types_of_names_[result] = type_of(first);
    types_.unify(type_of(first), type_of(second));
  }
  ast::Stmt* made = emit(StmtKind::kIf, place);
  made->value = condition;
  made->body = std::move(sides[0]);
  made->orelse = std::move(sides[1]);
  return last ? &returned_ : name(place, result);
}

Grammar::Expr Grammar::branch_value(Suite& side, bool last, const std::string& result) {
  const std::map<std::string, size_t> cells = cells_;
  Expr value = block(side, last);
  cells_ = cells;
  if (value == nullptr) return nullptr;
  Suite* outer = std::exchange(suite_, &side);
  if (last) {
    give(value);
  } else {
    ast::Stmt* bound = emit(StmtKind::kAssign, value->place);
    bound->value = value;
    bound->target = name(value->place, result);
    keep_cells(value->place);
  }
  suite_ = outer;
  return value;
}

/// Parses `fn (%x: T) -> T { … }`.
Grammar::Expr Grammar::closure(const std::string& called) {
  Place place = take().place;
  Suite* outer = suite_;
  suite_ = nullptr;
  ast::Stmt* made = make_function(called, place, false);
  suite_ = outer;
  if (!function(*made)) return nullptr;
  suite_->push_back(made);
  return name(place, called);
}

Grammar::Expr Grammar::too_deep(Place place) {
  return refuse(place, Kind::syntax, "more than {} parts of parts", kDeepestTree);
}

Grammar::Expr Grammar::local(const Token& token) {
  if (find_cell(token) != nullptr)
    return refuse(token.place, Kind::unsupported, "a reference can only be bound to a variable, read and written");
  // %x.0.1 may be a whole name, or a tuple field of a shorter one.
  for (size_t end = token.text.size(); end != std::string::npos && end > 0; end = token.text.rfind('.', end - 1)) {
    std::string variable = token.text.substr(0, end);
    auto knows = [&](const Scope& scope) { return scope.locals.count(variable) != 0; };
    auto scope = std::find_if(scopes_.rbegin(), scopes_.rend(), knows);
    if (scope == scopes_.rend()) continue;
    Expr value = name(token.place, scope->locals.at(variable));
    std::string parts = token.text.substr(end);
    while (!parts.empty()) {
      size_t next = std::min(parts.find('.', 1), parts.size());
      Expr index = make(ExprKind::kInt, token.place, {}, parts.substr(1, next - 1));
      value = make(ExprKind::kSubscript, token.place, {value, index});
      if (value->depth > kDeepestTree) return too_deep(token.place);
      parts.erase(0, next);
    }
    return value;
  }
  return refuse(token.place, Kind::unbound_name, "the variable '%{}' has no value here", token.text);
}

Grammar::Expr Grammar::numbered(const Token& token) {
  if (find_cell(token) != nullptr)
    return refuse(token.place, Kind::unsupported, "a reference can only be bound to a variable, read and written");
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (auto known = scope->numbered.find(token.text); known != scope->numbered.end())
        return name(token.place, known->second->text);
    if (attempt == 0 && !define_again(token.text, token.place)) break;
  }
  return refuse(token.place, Kind::unbound_name, "the value '%{}' is not defined above", token.text);
}

/// Defines a value, and those that it needs, in the innermost scope again; returns false if it was never defined.
bool Grammar::define_again(const std::string& number, Place place) {
  if (numbered_at_.count(number) == 0) return false;
  std::map<size_t, std::string> wanted;  // by position, so in the order of the text
  std::vector<std::string> open{number};
  auto visible = [&](const std::string& value) {
    return std::any_of(scopes_.begin(), scopes_.end(), [&](const Scope& s) { return s.numbered.count(value) != 0; });
  };
  while (!open.empty()) {
    std::string next = std::move(open.back());
    open.pop_back();
    auto known = numbered_at_.find(next);
    if (known == numbered_at_.end() || visible(next) || !wanted.emplace(known->second, next).second) continue;
    for (size_t i = known->second; !tokens_[i].is(";") && tokens_[i].kind != TokenKind::kEnd; ++i)
      if (tokens_[i].is_name("ref") || tokens_[i].is_name("ref_read") || tokens_[i].is_name("ref_write"))
        return refuse(place, Kind::unsupported, "the value '%{}' of a branch depends on a reference; bind it before",
                      number) != nullptr;
      else if (tokens_[i].kind == TokenKind::kGraph && !tokens_[i + 1].is("="))
        open.push_back(tokens_[i].text);
  }
  size_t back = at_;
  bool ok = true;
  for (const auto& [begin, value] : wanted) {
    if (visible(value)) continue;
    at_ = begin;
    Expr again = infix(0);
    ok = ok && again != nullptr;
    if (again == nullptr) break;
    scopes_.back().numbered[value] = named(again, "v" + value, place);
  }
  at_ = back;
  return ok;
}

/// Parses `1f`, `2`, `3i64` or `True`: a tensor without dims.
Grammar::Expr Grammar::constant() {
  Token token = take();
  std::string dtype = "bool";
  Expr value = nullptr;
  if (token.kind == TokenKind::kName) {
    value = make(token.text == "True" ? ExprKind::kTrue : ExprKind::kFalse, token.place);
  } else {
    value = attribute_number(token);
    size_t suffix = token.text.find_last_of("fiu");
    bool special = token.text.find("inf") != std::string::npos || token.text.find("nan") != std::string::npos;
    if (special) suffix = token.text.rfind('f');
    bool real = token.text.find_first_of(".eE") != std::string::npos;
    char kind = suffix != std::string::npos ? token.text[suffix] : real ? 'f' : 'i';
    std::string width = suffix == std::string::npos ? "" : token.text.substr(suffix + 1);
    if (width.empty()) width = "32";
    dtype = (kind == 'f' ? "float" : kind == 'i' ? "int" : "uint") + width;
    if (!parse_dtype(dtype)) return refuse(token.place, Kind::invalid_value, "'{}' is not a dtype", dtype);
  }
  if (value == nullptr) return nullptr;
  Expr made = relax_call(token.place, "const", {value, make(ExprKind::kString, token.place, {}, dtype)});
  return infers_ ? typed(made, types_.tensor({}, dtype)) : made;
}

/// Parses `meta[relay.Constant][0]`.
Grammar::Expr Grammar::stored_constant() {
  Token token = take();
  if (token.text != "relay.Constant")
    return refuse(token.place, Kind::unsupported, "of the metadata only relay.Constant is a value, found meta[{}]",
                  token.text);
  Expr list = make(ExprKind::kSubscript, token.place,
                   {name(token.place, "metadata"), make(ExprKind::kString, token.place, {}, token.text)});
  return make(ExprKind::kSubscript, token.place,
              {list, make(ExprKind::kInt, token.place, {}, std::to_string(token.number))});
}

/// Makes a number as Python writes it, without the suffix for the dtype.
Grammar::Expr Grammar::attribute_number(const Token& token) {
  bool negative = token.text.starts_with('-');
  std::string digits = token.text.substr(negative ? 1 : 0);
  Expr value = nullptr;
  if (digits.starts_with("inf") || digits.starts_with("nan")) {
    Expr text = make(ExprKind::kString, token.place, {}, digits.substr(0, 3));
    value = make(ExprKind::kCall, token.place, {name(token.place, "float"), text});
  } else {
    size_t suffix = digits.find_first_of("fiu");
    bool real = digits.find_first_of(".eEf") != std::string::npos;
    value = make(real ? ExprKind::kFloat : ExprKind::kInt, token.place, {}, digits.substr(0, suffix));
  }
  return negative ? make(ExprKind::kUnary, token.place, {value}, "-") : value;
}

/// Parses an attribute of a call. TVM repeats some operands as attributes, and prints devices as references to the
/// metadata; both are ignored here.
Grammar::Expr Grammar::named_attribute() {
  TokenKind kind = peek().kind;
  bool repeated = kind == TokenKind::kMeta || kind == TokenKind::kLocal || kind == TokenKind::kGraph;
  return repeated ? make(ExprKind::kNone, take().place) : attribute_value();
}

/// Parses a number, a bool, a string, None, or a list, tuple or map of them (of a map only the values).
Grammar::Expr Grammar::attribute_value() {
  Token token = take();
  if (token.kind == TokenKind::kNumber) return attribute_number(token);
  if (token.kind == TokenKind::kString) return make(ExprKind::kString, token.place, {}, token.text);
  if (token.is_name("True")) return make(ExprKind::kTrue, token.place);
  if (token.is_name("False")) return make(ExprKind::kFalse, token.place);
  if (token.is_name("None") || token.is_name("nullptr")) return make(ExprKind::kNone, token.place);
  bool list = token.is("["), tuple = token.is("("), map = token.is("{");
  if (!list && !tuple && !map) {
    --at_;
    return unexpected("a number, a string, None or a list");
  }
  if (nesting_ >= kDeepestNesting)
    return refuse(token.place, Kind::syntax, "nested more than {} levels deep", kDeepestNesting);
  ++nesting_;
  std::string_view close = list ? "]" : tuple ? ")" : "}";
  std::vector<Expr> items;
  while (!peek().is(close)) {
    Expr item = attribute_value();
    if (item != nullptr && map && accept(":")) item = attribute_value();
    if (item == nullptr) return nullptr;
    items.push_back(item);
    if (!accept(",")) break;
  }
  --nesting_;
  Place whole = join(token.place, peek().place);
  if (!expect(close, "behind a list")) return nullptr;
  return make(ExprKind::kList, whole, std::move(items));
}

}  // namespace relaxc::relay
