// expressions.cpp: the grammar of Relay's expressions.
#include "frontends/relay/text/expressions.h"

#include <algorithm>
#include <iterator>

#include "frontends/relay/text/attributes.h"
#include "frontends/relay/text/data.h"
#include "frontends/relay/text/functions.h"
#include "frontends/relay/text/match.h"
#include "frontends/relay/text/references.h"
#include "frontends/relay/text/types.h"

namespace relaxc::relay {

using ast::ExprKind;
using ast::StmtKind;

namespace {

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

Reported refuse_reference(ReaderParts& reader, Place place) {
  return reader.tokens.refuse(place, Kind::unsupported,
                              "a reference can only be bound to a variable, read and written");
}

/// `.0.1` behind a tuple.
Expr parts_of(ReaderParts& reader, Expr tuple, std::string_view numbers, Place place) {
  while (!numbers.empty()) {
    const size_t next = std::min(numbers.find('.', 1), numbers.size());
    Expr index = reader.tree.make(ExprKind::kInt, place, {}, std::string(numbers.substr(1, next - 1)));
    tuple = reader.tree.subscript(join(tuple->place, place), tuple, index);
    if (tuple->depth > kDeepestTree)
      return reader.tokens.refuse(place, Kind::syntax, "more than {} parts of parts", kDeepestTree);
    numbers.remove_prefix(next);
  }
  return tuple;
}

/// Reads `.0`, or `.0.1`, which is one token behind the dot.
Expr read_part(ReaderParts& reader, Expr tuple) {
  reader.tokens.take();
  const Token number = reader.tokens.take();
  if (number.kind != TokenKind::kNumber || number.text.find_first_not_of("0123456789.") != std::string::npos)
    return reader.tokens.unexpected(number, "the number of a part");
  return parts_of(reader, tuple, "." + number.text, number.place);
}

/// A variable. %x.0.1 may be a whole name, or a tuple field of a shorter one.
Expr read_local(ReaderParts& reader, const Token& token) {
  if (reader.variables.cell(token) != nullptr) return refuse_reference(reader, token.place);
  for (size_t end = token.text.size(); end != std::string::npos && end > 0; end = token.text.rfind('.', end - 1)) {
    const std::string* name = reader.variables.local(token.text.substr(0, end));
    if (name != nullptr)
      return parts_of(reader, reader.tree.name(token.place, *name), token.text.substr(end), token.place);
  }
  return reader.tokens.refuse(token.place, Kind::unbound_name, "the variable '%{}' has no value here", token.text);
}

/// Defines a numbered value, and those that it needs, in the innermost scope again: TVM may use it outside of the
/// branch where it is printed. False if it was never defined, or cannot be defined again, which is then reported.
bool define_again(ReaderParts& reader, const std::string& number, Place place) {
  const std::vector<Token>& tokens = reader.tokens.all();
  std::map<size_t, std::string> wanted;  // by position, so in the order of the text
  std::vector<std::string> open{number};
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    const std::optional<size_t> begin = reader.variables.definition(next);
    if (!begin || reader.variables.numbered(next) != nullptr || !wanted.emplace(*begin, next).second) continue;
    for (size_t i = *begin; !tokens[i].is(";") && tokens[i].kind != TokenKind::kEnd; ++i)
      if (tokens[i].is_name("ref") || tokens[i].is_name("ref_read") || tokens[i].is_name("ref_write"))
        return reader.tokens.refuse(place, Kind::unsupported,
                                    "the value '%{}' of a branch depends on a reference; bind it before", number);
      else if (tokens[i].kind == TokenKind::kGraph && !tokens[i + 1].is("="))
        open.push_back(tokens[i].text);
  }
  for (const auto& [begin, value] : wanted) {
    if (reader.variables.numbered(value) != nullptr) continue;
    TokenCursor::Elsewhere there(reader.tokens, begin);
    Expr again = read_operand(reader);
    if (again == nullptr) return false;
    reader.variables.set_numbered(value, reader.named(again, "v" + value, place)->text);
  }
  return !wanted.empty();
}

Expr read_numbered(ReaderParts& reader, const Token& token) {
  if (reader.variables.cell(token) != nullptr) return refuse_reference(reader, token.place);
  const size_t errors = reader.tokens.error_count();
  if (reader.variables.numbered(token.text) == nullptr && !define_again(reader, token.text, token.place)) {
    if (reader.tokens.error_count() > errors) return nullptr;
    return reader.tokens.refuse(token.place, Kind::unbound_name, "the value '%{}' is not defined above", token.text);
  }
  return reader.tree.name(token.place, *reader.variables.numbered(token.text));
}

/// Reads `()`, `(x,)`, `(x, y)`, or an expression in parentheses.
Expr read_tuple(ReaderParts& reader) {
  const Place begin = reader.tokens.take().place;
  std::vector<Expr> fields;
  bool comma = false;
  while (!reader.tokens.peek().is(")")) {
    Expr field = read_expression(reader);
    if (field == nullptr) return nullptr;
    fields.push_back(field);
    if (!reader.tokens.accept(",")) break;
    comma = true;
  }
  const Place whole = join(begin, reader.tokens.peek().place);
  if (!reader.tokens.expect(")", "behind an expression")) return nullptr;
  if (fields.size() == 1 && !comma) return fields[0];
  if (!fields.empty()) return reader.tree.make(ExprKind::kTuple, whole, std::move(fields));
  return reader.values.set(reader.tree.relax_call(whole, "tuple", {}), reader.types.compound(Type::kTuple, {}));
}

/// Reads the value of one side of a branch into its statements.
Expr read_side(ReaderParts& reader, Suite& side, bool last, const std::string& result) {
  Expr value = nullptr;
  {
    Variables::InSide cells(reader.variables);
    value = read_block(reader, side, last);
  }
  if (value == nullptr) return nullptr;
  TreeBuilder::Into into(reader.tree, side);
  end_side(reader, value, last, result);
  return value;
}

/// Reads `if (c) { a } else { b }`. Both sides bind one name, or return if the branch ends a function (`last`).
Expr read_branch(ReaderParts& reader, bool last) {
  TokenCursor& tokens = reader.tokens;
  const Place place = tokens.take().place;
  if (!tokens.expect("(", "behind 'if'")) return nullptr;
  Expr condition = read_expression(reader);
  if (condition == nullptr || !tokens.expect(")", "behind a condition")) return nullptr;
  const std::string result = last ? std::string() : reader.tree.unique("branch");
  Suite sides[2];
  Expr first = read_side(reader, sides[0], last, result);
  if (first == nullptr || !tokens.expect("else", "behind the first branch")) return nullptr;
  Expr second = read_side(reader, sides[1], last, result);
  if (second == nullptr) return nullptr;
  if (reader.values.are_inferred() && !last) {
    Type* type = reader.values.of(first);
    reader.values.set_name(result, type);
    reader.types.unify(type, reader.values.of(second));
  }
  ast::Stmt* made = reader.tree.emit(StmtKind::kIf, place);
  made->value = condition;
  made->body = std::move(sides[0]);
  made->orelse = std::move(sides[1]);
  return last ? reader.tree.returned() : reader.tree.name(place, result);
}

/// Reads what begins with a keyword, a constructor or an operator's name.
Expr read_name(ReaderParts& reader) {
  const Token& token = reader.tokens.peek();
  if (token.text == "True" || token.text == "False") return read_constant(reader);
  if (token.text == "if") return read_branch(reader, false);
  if (token.text == "fn") return read_closure(reader, reader.tree.unique("fn"));
  if (token.text == "match") return read_match(reader, false);
  if (token.text == "ref_read") return read_from_reference(reader);
  if (token.text == "ref_write") return read_write_to_reference(reader);
  if (token.text == "ref") return refuse_reference(reader, token.place);
  for (const Foreign& row : kForeign)
    if (row.keyword == token.text)
      return reader.tokens.refuse(token.place, Kind::unsupported, "{} are not supported", row.what);
  if (reader.definitions.constructor(token.text) != nullptr) return read_construct(reader);
  const Token op = reader.tokens.take();
  if (!reader.tokens.peek().is("(") && reader.values.are_inferred()) return operator_value(reader, op);
  if (!reader.tokens.peek().is("("))
    return reader.tokens.refuse(op.place, Kind::unsupported, "the operator '{}' is not a value; call it", op.text);
  return reader.tree.make(ExprKind::kAttribute, op.place, {reader.tree.name(op.place, "relay")}, op.text);
}

Expr read_atom(ReaderParts& reader) {
  TokenCursor& tokens = reader.tokens;
  if (tokens.peek().is("(")) return read_tuple(reader);
  switch (tokens.peek().kind) {
    case TokenKind::kGraph:
      return read_numbered(reader, tokens.take());
    case TokenKind::kLocal:
      return read_local(reader, tokens.take());
    case TokenKind::kGlobal:
      return read_global(reader, tokens.take());
    case TokenKind::kNumber:
      return read_constant(reader);
    case TokenKind::kMeta:
      return read_stored_constant(reader);
    case TokenKind::kName:
      return read_name(reader);
    default:
      return tokens.unexpected("an expression");
  }
}

/// Reads an atom, with calls and tuple fields behind it.
Expr read_postfix(ReaderParts& reader) {
  Expr value = read_atom(reader);
  while (value != nullptr) {
    if (reader.tokens.peek().is("("))
      value = read_call(reader, value);
    else if (reader.tokens.peek().is("."))
      value = read_part(reader, value);
    else
      break;
    if (value != nullptr && value->depth > kDeepestTree) value = reader.named(value, "value", value->place);
  }
  return value;
}

/// Reads operands between infix operators that bind more tightly than `least`.
Expr read_infix(ReaderParts& reader, int least) {
  Expr left = read_postfix(reader);
  while (left != nullptr) {
    const Token& next = reader.tokens.peek();
    auto row = std::find_if(std::begin(kInfix), std::end(kInfix), [&](const Infix& op) { return next.is(op.text); });
    if (row == std::end(kInfix) || row->precedence <= least) break;
    const Place place = reader.tokens.take().place;
    Expr right = read_infix(reader, row->precedence);
    if (right == nullptr) return nullptr;
    TreeBuilder& tree = reader.tree;
    Expr callee = tree.make(ExprKind::kAttribute, place, {tree.name(place, "relay")}, std::string(row->op));
    Type* type = type_of_call(reader, callee, {left, right}, "");
    Expr made = tree.make(ExprKind::kCall, join(left->place, right->place), {callee, left, right});
    left = reader.values.set(made, type);
    if (left->depth > kDeepestTree) left = reader.named(left, "sum", place);
  }
  return left;
}

/// Reads the value of `let %x`, and binds it. A function is declared before its body, so that it may call itself.
Expr read_bound(ReaderParts& reader, const Token& variable) {
  if (reader.tokens.peek().is_name("fn")) return read_closure(reader, reader.declare(variable.text));
  const bool refers = at_reference(reader);
  Expr value = refers ? read_reference(reader) : read_operand(reader);
  if (value == nullptr) return nullptr;
  Expr name = refers ? value : reader.named(value, variable.text, variable.place);
  reader.variables.set_local(variable.text, name->text);
  return value;
}

/// Reads `let %x: T = value;`.
bool read_let(ReaderParts& reader) {
  TokenCursor& tokens = reader.tokens;
  tokens.take();
  const Token variable = tokens.take();
  if (variable.kind != TokenKind::kLocal) return tokens.unexpected(variable, "a variable such as %x");
  Type* declared = nullptr;
  if (tokens.accept(":")) {
    const bool refers = tokens.accept("ref");  // the value says whether it is a reference
    if (refers && !tokens.expect("(", "behind 'ref'")) return false;
    const Annotation type = annotation(reader, Unknown::kRank, variable.text);
    if (type.written == nullptr) return false;
    declared = type.type;
    if (refers && !tokens.expect(")", "behind the type of a reference")) return false;
  }
  if (!tokens.expect("=", "behind a variable")) return false;
  Expr value = read_bound(reader, variable);
  if (value == nullptr) return false;
  if (declared != nullptr && reader.values.are_inferred() && !reader.types.unify(declared, reader.values.of(value)))
    return tokens.refuse(variable.place, Kind::dtype_mismatch, "'%{}' is declared {}, and its value is {}",
                         variable.text, reader.types.text(declared), reader.types.text(reader.values.of(value)));
  return tokens.expect(";", "behind a binding");
}

/// Reads `%3 = value;`.
bool read_numbered_binding(ReaderParts& reader) {
  const Token variable = reader.tokens.take();
  reader.tokens.take();
  reader.variables.define(variable.text, reader.tokens.at());
  Expr value = at_reference(reader) ? read_reference(reader) : read_operand(reader);
  if (value == nullptr) return false;
  reader.variables.set_numbered(variable.text, reader.named(value, "v" + variable.text, variable.place)->text);
  return reader.tokens.expect(";", "behind a binding");
}

/// Reads the value behind bindings; if `last`, a branch of it returns the function's result.
Expr read_value(ReaderParts& reader, bool last) {
  const Token& next = reader.tokens.peek();
  if (last && next.is_name("if")) return read_branch(reader, true);
  if (last && next.is_name("match")) return read_match(reader, true);
  return read_operand(reader);
}

}  // namespace

Expr read_operand(ReaderParts& reader) {
  return read_infix(reader, 0);
}

Expr read_expression(ReaderParts& reader) {
  TokenCursor& tokens = reader.tokens;
  TokenCursor::Nested nested(tokens, tokens.peek().place);
  if (!nested) return nullptr;
  const bool last = std::exchange(reader.last, false);
  bool ok = true, at_value = false;
  while (ok && !at_value) {
    const bool is_number = tokens.peek().kind == TokenKind::kGraph && tokens.peek(1).is("=");
    if (tokens.peek().is_name("let"))
      ok = read_let(reader);
    else if (is_number)
      ok = read_numbered_binding(reader);
    else
      at_value = true;
  }
  Expr value = ok ? read_value(reader, last) : nullptr;
  reader.last = last;
  return value;
}

}  // namespace relaxc::relay
