// calls.cpp: functions as values, their types, and calls. A polymorphic function becomes one function for each list of
// types that calls give it.
#include "frontends/relay/text/attributes.h"
#include "frontends/relay/text/expressions.h"
#include "frontends/relay/text/functions.h"
#include "frontends/relay/text/types.h"

namespace relaxc::relay {

using ast::ExprKind;

namespace {

constexpr size_t kMostInstances = 500;

/// Skips what is behind a parameter's name: the braces around its device.
void skip_device(TokenCursor& tokens, size_t end) {
  while (tokens.peek().is("{") && tokens.at() < end)
    while (!tokens.take().is("}") && tokens.at() < end) {
    }
}

/// The type of a function of the module; null if its head is not as it should be, which reading it reports.
Type* signature(ReaderParts& reader, const FunctionDefinition& definition, const TypeNames& names) {
  TokenCursor& tokens = reader.tokens;
  TokenCursor::Elsewhere there(tokens, definition.begin + 1);
  const size_t end = definition.end;
  while (!definition.type_params.empty() && tokens.at() < end && !tokens.take().is("]")) {
  }
  Type* made = reader.types.compound(Type::kFunction, {});
  if (!tokens.accept("(")) return nullptr;
  while (!tokens.peek().is(")") && tokens.at() < end) {
    if (tokens.peek().kind == TokenKind::kName) {  // attributes
      while (!tokens.peek().is(")") && tokens.at() < end) tokens.take();
      break;
    }
    if (tokens.take().kind != TokenKind::kLocal) return nullptr;
    skip_device(tokens, end);
    made->parts.push_back(tokens.accept(":") ? read_type(reader, names) : nullptr);
    if (made->parts.back() == nullptr) return nullptr;
    if (!tokens.accept(",")) break;
  }
  if (!tokens.accept(")")) return nullptr;
  made->parts.push_back(tokens.accept("->") ? read_type(reader, names) : reader.types.variable(true));
  return made->parts.back() == nullptr ? nullptr : made;
}

/// What `function` is called for these types; empty: reported.
std::string name_of_instance(ReaderParts& reader, const std::string& function, const TypeNames& types, Place place) {
  std::string key = function;
  for (const auto& [param, type] : types) {
    const std::string text = reader.types.text(type);
    if (text.empty() || reader.definitions.instances().size() >= kMostInstances) {
      (void)reader.tokens.refuse(place, Kind::unbounded,
                                 "calls of '@{}' need more and more types for '{}', without an end", function, param);
      return {};
    }
    key += " " + text;
  }
  Definitions::Instance& instance = reader.definitions.instance(key, function, types);
  if (instance.name.empty()) instance.name = reader.tree.unique(function);
  return instance.name;
}

/// Where types decide what a program means, they have to fit.
void check_call(ReaderParts& reader, Expr callee, const Type& function, const std::vector<Expr>& arguments) {
  const auto is_operator = [&](size_t i) { return reader.values.operator_of(arguments[i]).first != nullptr; };
  std::vector<size_t> order;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!is_operator(i)) order.push_back(i);
  for (size_t i = 0; i < arguments.size(); ++i)  // last, since the others say of which types they are
    if (is_operator(i)) order.push_back(i);
  for (size_t i : order) {
    specialize_operator(reader, arguments[i], function.parts[i]);
    Type* given = reader.values.of(arguments[i]);
    if (reader.types.unify(function.parts[i], given)) continue;
    const bool matters = reader.types.holds_data(function.parts[i]) || reader.types.holds_data(given);
    const bool is_instance = callee->text.empty();
    if (matters || is_instance)
      (void)reader.tokens.refuse(arguments[i]->place, Kind::dtype_mismatch, "argument {} is {}, where {} is needed", i,
                                 reader.types.text(given), reader.types.text(function.parts[i]));
  }
}

/// The arguments of a call.
struct Arguments {
  std::vector<Expr> values;
  std::vector<ast::Keyword> attributes;
  std::string attributes_text;  ///< as Relay has them, for the type of an operator's result
};

/// Reads `key=value`.
bool read_keyword(ReaderParts& reader, Arguments& arguments) {
  TokenCursor& tokens = reader.tokens;
  const Token key = tokens.take();
  tokens.take();
  Expr value = read_call_attribute(reader);
  if (value == nullptr) return false;
  if (reader.values.are_inferred() && !value->is(ExprKind::kNone))
    arguments.attributes_text += (arguments.values.empty() && arguments.attributes.empty() ? "" : ", ") +
                                 tokens.text(key.place, tokens.all()[tokens.at() - 1].place);
  if (key.text != "attrs_type_key") arguments.attributes.push_back({key.text, key.place, value});
  return true;
}

/// Reads one argument or attribute.
bool read_argument(ReaderParts& reader, Arguments& arguments) {
  const Token& next = reader.tokens.peek();
  if (next.kind == TokenKind::kName && reader.tokens.peek(1).is("=")) return read_keyword(reader, arguments);
  if (next.kind == TokenKind::kMeta && next.text.find("attrs") != std::string::npos)
    return reader.tokens.refuse(next.place, Kind::unsupported,
                                "attributes in the metadata are not supported, found meta[{}]", next.text);
  Expr value = read_expression(reader);
  if (value != nullptr) arguments.values.push_back(value);
  return value != nullptr;
}

}  // namespace

Expr read_global(ReaderParts& reader, const Token& token) {
  const FunctionDefinition* found = reader.definitions.function(token.text);
  if (found == nullptr)
    return reader.tokens.refuse(token.place, Kind::unbound_name, "there is no function '@{}' in the text", token.text);
  Expr plain = reader.tree.name(token.place, token.text);
  if (!reader.values.are_inferred()) return plain;
  TypeNames types;
  for (const std::string& param : found->type_params) types[param] = reader.types.variable();
  const size_t errors = reader.tokens.error_count();
  Type* type = signature(reader, *found, types);
  if (type == nullptr && types.empty()) return plain;
  if (type == nullptr && reader.tokens.error_count() == errors)
    return reader.tokens.refuse(token.place, Kind::syntax, "the types of the parameters of '@{}' cannot be read",
                                token.text);
  if (type == nullptr) return nullptr;
  if (types.empty()) return reader.values.set(plain, type);
  ast::Expr* callee = reader.tree.hole(token.place);
  callee->kind = ExprKind::kName;
  reader.values.add_hole([&reader, callee, types, function = token.text] {
    callee->text = name_of_instance(reader, function, types, callee->place);
    return !callee->text.empty();
  });
  return reader.values.set(callee, type);
}

Expr read_call(ReaderParts& reader, Expr callee) {
  TokenCursor& tokens = reader.tokens;
  tokens.take();
  Arguments arguments;
  while (!tokens.peek().is(")")) {
    if (!read_argument(reader, arguments)) return nullptr;
    if (!tokens.accept(",")) break;
  }
  const Place whole = join(callee->place, tokens.peek().place);
  if (!tokens.expect(")", "behind arguments")) return nullptr;
  Type* type = type_of_call(reader, callee, arguments.values, arguments.attributes_text);
  std::vector<Expr> items = std::move(arguments.values);
  items.insert(items.begin(), callee);
  return reader.values.set(reader.tree.call(whole, std::move(items), std::move(arguments.attributes)), type);
}

Type* type_of_call(ReaderParts& reader, Expr callee, const std::vector<Expr>& arguments,
                   const std::string& attributes) {
  if (!reader.values.are_inferred()) return nullptr;
  if (callee->is(ExprKind::kAttribute)) {
    std::vector<Type*> types;
    for (Expr argument : arguments) types.push_back(reader.values.of(argument));
    return reader.types.of_operator(callee->text, std::move(types), attributes);
  }
  Type* function = reader.types.resolved(reader.values.of(callee));
  if (function->kind != Type::kFunction || function->parts.size() != arguments.size() + 1)
    return reader.types.variable(true);
  check_call(reader, callee, *function, arguments);
  return function->parts.back();
}

bool refuse_data_of(ReaderParts& reader, const FunctionDefinition& definition, const std::string& called) {
  const size_t errors = reader.tokens.error_count();
  Type* type = signature(reader, definition, {});
  if (type == nullptr || !reader.types.holds_data(type)) return reader.tokens.error_count() > errors;
  std::string data;
  for (Type* part : type->parts)
    if (reader.types.holds_data(part)) data = reader.types.text(part);
  (void)reader.tokens.refuse(reader.tokens.all()[definition.begin].place, Kind::unsupported,
                             "'@{}' takes or gives {}; inputs and outputs of a program are tensors", called, data);
  return true;
}

}  // namespace relaxc::relay
