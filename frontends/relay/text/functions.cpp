// functions.cpp: the grammar of functions.
#include "frontends/relay/text/functions.h"

#include <set>

#include "frontends/relay/text/attributes.h"
#include "frontends/relay/text/expressions.h"
#include "frontends/relay/text/references.h"
#include "frontends/relay/text/types.h"

namespace relaxc::relay {

using ast::ExprKind;
using ast::StmtKind;

namespace {

/// Reads `%x: T`, behind which a device may stand in braces.
///
/// \param spellings of the function's earlier parameters, whose names may have got numbers
bool read_parameter(ReaderParts& reader, ast::Stmt& function, std::set<std::string>& spellings) {
  TokenCursor& tokens = reader.tokens;
  const Token variable = tokens.take();
  if (variable.kind != TokenKind::kLocal) return tokens.unexpected(variable, "a parameter such as %x");
  if (tokens.accept("{") &&
      (!read_function_attributes(reader) || !tokens.expect("}", "behind the device of a parameter")))
    return false;
  if (!spellings.insert(tokens.text(variable.place, variable.place)).second)
    return tokens.refuse(variable.place, Kind::redefinition, "two parameters are named '%{}'", variable.text);
  const std::string name = reader.declare(variable.text);
  ast::Parameter& made = function.params.emplace_back();
  made.place = variable.place;
  made.name = name;
  if (!tokens.accept(":"))
    return tokens.refuse(variable.place, Kind::unsupported,
                         "parameter '%{}' needs a type; TVM's pass InferType writes it", variable.text);
  const Annotation type = annotation(reader, Unknown::kSymbols, name);
  made.annotation = type.written;
  reader.values.set_name(name, type.type);
  return type.written != nullptr;
}

/// What a function says before its body.
struct Head {
  std::vector<Expr> attributes;  ///< keys and values
  Type* result = nullptr;
};

/// Reads `(%x: T, %y: T, Primitive=1) -> T`.
bool read_head(ReaderParts& reader, ast::Stmt& function, Head& head) {
  TokenCursor& tokens = reader.tokens;
  if (tokens.accept("[")) {  // of a function inside of another one; its calls say what they are
    while (tokens.peek().kind == TokenKind::kName) {
      reader.values.name_type(tokens.take().text, reader.types.variable());
      if (!tokens.accept(",")) break;
    }
    if (!tokens.expect("]", "behind the parameters of a function that are types")) return false;
  }
  if (!tokens.expect("(", "in front of parameters")) return false;
  std::set<std::string> spellings;
  while (!tokens.peek().is(")")) {
    const bool attributes = tokens.peek().kind == TokenKind::kName;
    if (attributes ? !read_function_attributes(reader, &head.attributes) : !read_parameter(reader, function, spellings))
      return false;
    if (attributes || !tokens.accept(",")) break;
  }
  if (!tokens.expect(")", "behind parameters")) return false;
  if (!tokens.accept("->")) {
    head.result = reader.types.variable(true);
    return true;
  }
  const Annotation result = annotation(reader, Unknown::kRank, "result");
  function.annotation = result.written;
  head.result = result.type;
  return result.written != nullptr;
}

/// The type of a function, which may call itself.
Type* type_of_function(ReaderParts& reader, const ast::Stmt& function, Type* result) {
  std::vector<Type*> parts;
  for (const ast::Parameter& param : function.params) parts.push_back(reader.values.of_name(param.name));
  parts.push_back(result);
  return reader.types.compound(Type::kFunction, std::move(parts));
}

/// Reads a function from its parameters on into statements.
bool read_function(ReaderParts& reader, ast::Stmt& function) {
  Variables::InScope scope(reader.variables);
  ValueTypes::InTypes types(reader.values);
  Head head;
  if (!read_head(reader, function, head)) return false;
  ValueTypes::InFunction result(reader.values, head.result);
  if (reader.values.are_inferred())
    reader.values.set_name(function.text, type_of_function(reader, function, head.result));
  Suite body;
  TreeBuilder::Into into(reader.tree, body);
  if (!head.attributes.empty()) {
    Expr dict = reader.tree.make(ExprKind::kDict, function.place, head.attributes);
    reader.tree.emit(StmtKind::kExpr, function.place)->value =
        reader.tree.relax_call(function.place, "func_attr", {dict});
  }
  Expr value = nullptr;
  {
    Variables::InFunction inside(reader.variables);
    value = read_block(reader, body, true);
  }
  if (value != nullptr) give(reader, value);
  function.body = std::move(body);
  return value != nullptr;
}

}  // namespace

void read_global_function(ReaderParts& reader, const FunctionDefinition& definition, const std::string& called,
                          bool is_private) {
  TokenCursor& tokens = reader.tokens;
  tokens.go_to(definition.begin);
  reader.variables.clear();
  const Token head = tokens.take();
  while (!definition.type_params.empty() && !tokens.take().is("]")) {
  }
  ast::Stmt* made = reader.tree.make_function(called, head.place, is_private);
  reader.tree.append_to_file(made);
  bool ok = read_function(reader, *made);
  if (ok && tokens.at() != definition.end) ok = tokens.unexpected("the end of the function");
  made->broken = !ok || !reader.values.fill_holes();
}

void read_free_expression(ReaderParts& reader) {
  TokenCursor& tokens = reader.tokens;
  if (tokens.peek().kind == TokenKind::kEnd) return;
  Variables::InScope scope(reader.variables);
  ast::Stmt* made = reader.tree.make_function("main", tokens.peek().place, false);
  reader.tree.append_to_file(made);
  reader.values.start_function({});
  Suite body;
  TreeBuilder::Into into(reader.tree, body);
  std::set<std::string> spellings;
  bool ok = true;
  while (ok && tokens.accept("free_var"))
    ok = read_parameter(reader, *made, spellings) && tokens.expect(";", "behind a free variable");
  Expr value = ok ? read_expression(reader) : nullptr;
  ok = value != nullptr;
  if (ok && tokens.peek().kind != TokenKind::kEnd) ok = tokens.unexpected("the end of the text");
  if (ok) reader.tree.emit(StmtKind::kReturn, value->place)->value = value;
  made->body = std::move(body);
  made->broken = !ok || !reader.values.fill_holes();
}

Expr read_closure(ReaderParts& reader, const std::string& called) {
  const Place place = reader.tokens.take().place;
  ast::Stmt* made = reader.tree.make_function(called, place, false);
  if (!read_function(reader, *made)) return nullptr;
  reader.tree.append(made);
  return reader.tree.name(place, called);
}

Expr read_block(ReaderParts& reader, Suite& into, bool last) {
  if (!reader.tokens.expect("{", "in front of an expression")) return nullptr;
  Variables::InScope scope(reader.variables);
  TreeBuilder::Into statements(reader.tree, into);
  const bool outer_last = std::exchange(reader.last, last);
  Expr value = read_expression(reader);
  reader.last = outer_last;
  if (value != nullptr && !reader.tokens.expect("}", "behind an expression")) return nullptr;
  return value;
}

void give(ReaderParts& reader, Expr value) {
  if (value == reader.tree.returned()) return;
  if (reader.values.are_inferred()) reader.types.unify(reader.values.result(), reader.values.of(value));
  reader.tree.emit(StmtKind::kReturn, value->place)->value = value;
}

void end_side(ReaderParts& reader, Expr value, bool last, const std::string& result) {
  if (last) return give(reader, value);
  reader.tree.bind(result, value, value->place);
  keep_references(reader, value->place);
}

}  // namespace relaxc::relay
