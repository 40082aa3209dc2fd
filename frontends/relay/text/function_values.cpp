// function_values.cpp: constructors and operators as values, as in `@foldr(Cons, %ys, %xs)` and `@map(negative, %xs)`.
//
// Each becomes a function of the suite that uses it, as if it were written `fn (%a) { negative(%a) }`. Its parameters
// get their types once all types of the function are known. The fields of a constructor say how many there are; how
// many operands an operator takes, the type of the function that is needed in its place does.
#include <functional>

#include "frontends/relay/text/data.h"
#include "frontends/relay/text/expressions.h"
#include "frontends/relay/text/functions.h"
#include "frontends/relay/text/types.h"

namespace relaxc::relay {

using ast::ExprKind;
using ast::StmtKind;

namespace {

/// Makes a function of parameters of these types, whose result `body` gives; returns its name.
Expr function_of(ReaderParts& reader, Place place, const std::string& wanted, const std::vector<Type*>& params,
                 const std::function<Expr(const std::vector<Expr>&)>& body) {
  TreeBuilder& tree = reader.tree;
  ast::Stmt* made = tree.make_function(tree.unique(wanted), place, false);
  std::vector<Expr> given;
  for (Type* type : params) {
    const std::string name = tree.unique("operand");
    ast::Parameter& param = made->params.emplace_back();
    param.place = place;
    param.name = name;
    param.annotation = later_annotation(reader, type, place, name);
    reader.values.set_name(name, type);
    given.push_back(tree.name(place, name));
  }
  Suite statements;
  {
    TreeBuilder::Into into(tree, statements);
    tree.emit(StmtKind::kReturn, place)->value = body(given);
  }
  made->body = std::move(statements);
  tree.append(made);
  return tree.name(place, made->text);
}

}  // namespace

Expr constructor_value(ReaderParts& reader, const Token& name) {
  const Constructor& made = *reader.definitions.constructor(name.text);
  TypeNames names;
  Type* type = data_type_of(reader, made, names);
  std::vector<Type*> parts = fields_of(reader, made, names);
  for (Type* field : parts)
    if (field == nullptr) return nullptr;
  Expr value = function_of(reader, name.place, "make_" + name.text, parts, [&](const std::vector<Expr>& fields) {
    return constructed(reader, made, type, fields, name.place);
  });
  parts.push_back(type);
  return reader.values.set(value, reader.types.compound(Type::kFunction, std::move(parts)));
}

Expr operator_value(ReaderParts& reader, const Token& name) {
  ast::Expr* hole = reader.tree.hole(name.place);
  reader.values.set_operator(hole, name.text);
  reader.values.add_hole([&reader, hole, name] {
    if (reader.values.operator_of(hole).first == nullptr) return true;
    (void)reader.tokens.refuse(name.place, Kind::unsupported,
                               "the operator '{}' is a value only where a function of known types is needed; call it",
                               name.text);
    return false;
  });
  return reader.values.set(hole, reader.types.variable());
}

void specialize_operator(ReaderParts& reader, Expr value, Type* wanted) {
  const auto [hole, name] = reader.values.operator_of(value);
  Type* function = reader.types.resolved(wanted);
  if (hole == nullptr || function->kind != Type::kFunction) return;
  reader.values.forget_operator(value);
  const std::vector<Type*> params(function->parts.begin(), function->parts.end() - 1);
  TreeBuilder& tree = reader.tree;
  const Place place = value->place;
  Expr made = function_of(reader, place, "call_" + name, params, [&](const std::vector<Expr>& operands) {
    std::vector<Expr> items = operands;
    items.insert(items.begin(), tree.make(ExprKind::kAttribute, place, {tree.name(place, "relay")}, name));
    return tree.call(place, std::move(items), {});
  });
  *hole = *made;
  std::vector<Type*> parts = params;
  parts.push_back(reader.types.of_operator(name, params, ""));
  reader.values.set(hole, reader.types.compound(Type::kFunction, std::move(parts)));
}

}  // namespace relaxc::relay
