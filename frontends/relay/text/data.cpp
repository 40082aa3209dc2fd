// data.cpp: data types, constructors, and fields as tensors.
#include "frontends/relay/text/data.h"

#include "frontends/relay/text/expressions.h"
#include "frontends/relay/text/functions.h"
#include "frontends/relay/text/types.h"

namespace relaxc::relay {

using ast::ExprKind;

namespace {

/// Reads `Cons(A, List[A])`; the types of fields are read when they are asked for, since they may be declared below.
bool read_constructor(ReaderParts& reader, DataType& type, const std::string& of) {
  TokenCursor& tokens = reader.tokens;
  const Token name = tokens.take();
  if (name.kind != TokenKind::kName) return tokens.unexpected(name, "a constructor");
  Constructor made{name.text, of, name.place, type.constructors.size(), {}};
  if (tokens.accept("(")) {
    int open = 0;
    bool begins = true;
    while (!(open == 0 && tokens.peek().is(")"))) {
      if (tokens.peek().kind == TokenKind::kEnd) return tokens.expect(")", "behind the fields of a constructor");
      if (begins) made.fields.push_back(tokens.at());
      const Token token = tokens.take();
      open += (token.is("(") || token.is("[") ? 1 : 0) - (token.is(")") || token.is("]") ? 1 : 0);
      begins = open == 0 && token.is(",");
    }
    tokens.take();
  }
  type.constructors.push_back(name.text);
  if (reader.definitions.add_constructor(std::move(made))) return true;
  return tokens.refuse(name.place, Kind::redefinition, "two constructors are named '{}'", name.text);
}

/// Values as the tensors that they are, and fields as the values that these tensors make.
class Leaves {
 public:
  explicit Leaves(ReaderParts& reader) : reader_(reader), tree_(reader.tree) {}

  /// Appends the tensors of `value`.
  bool add(Expr value, Type* type, std::vector<Expr>& leaves) {
    constexpr size_t kMost = 256;
    type = reader_.types.resolved(type);
    if (type->kind == Type::kFunction) return refuse_function(value->place);
    if (type->kind != Type::kTuple) {
      if (leaves.size() == kMost)
        return reader_.tokens.refuse(value->place, Kind::unsupported, "data with more than {} tensors in a node",
                                     kMost);
      leaves.push_back(value);
      return true;
    }
    for (size_t i = 0; i < type->parts.size(); ++i) {
      Expr part = tree_.subscript(value->place, value, tree_.integer(value->place, static_cast<int64_t>(i)));
      if (!add(part, type->parts[i], leaves)) return false;
    }
    return true;
  }

  int64_t count(Type* type) {
    type = reader_.types.resolved(type);
    if (type->kind != Type::kTuple) return 1;
    int64_t count_of_parts = 0;
    for (Type* part : type->parts) count_of_parts += count(part);
    return count_of_parts;
  }

  /// A field of this type, whose first tensor is number `leaf`. A type that stays unknown has no values: any will do.
  Expr read(Expr value, int64_t tag, int64_t& leaf, Type* type, Place place) {
    type = reader_.types.resolved(type);
    if (type->kind == Type::kFunction) return refuse_function(place);
    if (type->kind == Type::kVariable && type->is_hidden)
      return reader_.tokens.refuse(place, Kind::unbounded,
                                   "the type of this field is not known here; 'let %x: T = …' can say it");
    if (type->kind != Type::kTuple) return tensor(value, tag, leaf, *type, place);
    std::vector<Expr> parts;
    for (Type* part : type->parts) {
      parts.push_back(read(value, tag, leaf, part, place));
      if (parts.back() == nullptr) return nullptr;
    }
    return parts.empty() ? tree_.relax_call(place, "tuple", {}) : tree_.make(ExprKind::kTuple, place, std::move(parts));
  }

 private:
  Reported refuse_function(Place place) {
    return reader_.tokens.refuse(place, Kind::unsupported, "functions in the fields of data are not supported");
  }

  Expr tensor(Expr value, int64_t tag, int64_t& leaf, Type& type, Place place) {
    const bool is_tensor = type.kind == Type::kTensor;
    std::vector<Expr> dims;
    for (int64_t dim : is_tensor ? type.dims : std::vector<int64_t>()) {
      if (dim == Type::kOpenDim)
        return reader_.tokens.refuse(place, Kind::unsupported, "fields of data need fixed dims, found {}",
                                     reader_.types.text(&type));
      dims.push_back(tree_.integer(place, dim));
    }
    Expr shape = tree_.relax_call(place, "shape", {tree_.make(ExprKind::kList, place, std::move(dims))});
    Expr dtype = tree_.string(place, is_tensor ? type.text : "int64");
    Expr number = tree_.integer(place, tag), index = tree_.integer(place, leaf++);
    return tree_.data_call(place, "field", {value, shape}, {{"tag", number}, {"index", index}, {"dtype", dtype}});
  }

  ReaderParts& reader_;
  TreeBuilder& tree_;
};

/// The call that makes a node of these fields; null if an error was reported.
Expr construct(ReaderParts& reader, int64_t tag, const std::vector<Expr>& values, Place place) {
  std::vector<Expr> leaves;
  for (Expr value : values)
    if (!Leaves(reader).add(value, reader.values.of(value), leaves)) return nullptr;
  Expr fields = reader.tree.make(ExprKind::kTuple, place, std::move(leaves));
  return reader.tree.data_call(place, "construct", {fields}, {{"tag", reader.tree.integer(place, tag)}});
}

/// A hole that `fill` fills when types are known.
Expr delayed(ReaderParts& reader, Place place, Type* type, std::function<Expr()> fill) {
  ast::Expr* hole = reader.tree.hole(place);
  reader.values.add_hole([hole, fill = std::move(fill)] {
    Expr made = fill();
    if (made != nullptr) *hole = *made;
    return made != nullptr;
  });
  return reader.values.set(hole, type);
}

/// Reads `(%x, Nil)` behind a constructor; whether that succeeded.
bool read_fields(ReaderParts& reader, const Token& name, Place& whole, std::vector<Expr>& values) {
  TokenCursor& tokens = reader.tokens;
  const Constructor& made = *reader.definitions.constructor(name.text);
  if (tokens.accept("(")) {
    while (!tokens.peek().is(")")) {
      Expr value = read_expression(reader);
      if (value == nullptr) return false;
      values.push_back(reader.named(value, "field", value->place));
      if (!tokens.accept(",")) break;
    }
    whole = join(whole, tokens.peek().place);
    if (!tokens.expect(")", "behind the fields of a constructor")) return false;
  }
  if (values.size() == made.fields.size()) return true;
  return tokens.refuse(whole, Kind::wrong_arity, "'{}' has {} fields, found {}", name.text, made.fields.size(),
                       values.size());
}

}  // namespace

void read_type_definition(ReaderParts& reader, size_t begin, size_t end) {
  TokenCursor& tokens = reader.tokens;
  tokens.go_to(begin + 1);
  const Token head = tokens.take();
  DataType* type = reader.definitions.add_type(head.text, head.place);
  if (type == nullptr) {
    (void)tokens.refuse(head.place, Kind::redefinition, "two types are named '{}'", head.text);
    return;
  }
  reader.values.infer();
  if (tokens.accept("[")) {
    while (tokens.peek().kind == TokenKind::kName) {
      type->params.push_back(tokens.take().text);
      if (!tokens.accept(",")) break;
    }
    if (!tokens.expect("]", "behind the parameters of a type")) return;
  }
  if (tokens.accept(";") || tokens.at() >= end) return;  // without constructors
  if (!tokens.expect("{", "in front of constructors")) return;
  while (!tokens.peek().is("}")) {
    if (!read_constructor(reader, *type, head.text)) return;
    if (!tokens.accept(",")) break;
  }
  if (tokens.expect("}", "behind constructors") && tokens.at() != end) (void)tokens.unexpected("'def @name' or 'type'");
}

Type* data_type_of(ReaderParts& reader, const Constructor& made, TypeNames& types) {
  std::vector<Type*> arguments;
  for (const std::string& param : reader.definitions.type(made.type)->params)
    arguments.push_back(types[param] = reader.types.variable());
  return reader.types.compound(Type::kData, std::move(arguments), made.type);
}

std::vector<Type*> fields_of(ReaderParts& reader, const Constructor& made, const TypeNames& types) {
  std::vector<Type*> fields;
  for (size_t begin : made.fields) fields.push_back(read_type_at(reader, begin, types));
  return fields;
}

Expr read_construct(ReaderParts& reader) {
  const Token token = reader.tokens.take();
  const Constructor& made = *reader.definitions.constructor(token.text);
  if (!made.fields.empty() && !reader.tokens.peek().is("(")) return constructor_value(reader, token);
  Place whole = token.place;
  std::vector<Expr> values;
  if (!read_fields(reader, token, whole, values)) return nullptr;
  TypeNames names;
  Type* type = data_type_of(reader, made, names);
  const std::vector<Type*> fields = fields_of(reader, made, names);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == nullptr) return nullptr;
    Type* given = reader.values.of(values[i]);
    if (reader.types.unify(fields[i], given)) continue;
    return reader.tokens.refuse(values[i]->place, Kind::dtype_mismatch, "field {} of '{}' is {}, found {}", i,
                                token.text, reader.types.text(fields[i]), reader.types.text(given));
  }
  return constructed(reader, made, type, values, whole);
}

Expr constructed(ReaderParts& reader, const Constructor& made, Type* type, const std::vector<Expr>& fields,
                 Place place) {
  return delayed(reader, place, type, [&reader, tag = static_cast<int64_t>(made.tag), fields, place] {
    return construct(reader, tag, fields, place);
  });
}

Expr data_field(ReaderParts& reader, Expr value, const Constructor& made, const std::vector<Type*>& fields,
                size_t index, Place place) {
  const auto tag = static_cast<int64_t>(made.tag);
  return delayed(reader, place, fields[index], [&reader, value, tag, fields, index, place] {
    Leaves leaves(reader);
    int64_t leaf = 0;
    for (size_t i = 0; i < index; ++i) leaf += leaves.count(fields[i]);
    return leaves.read(value, tag, leaf, fields[index], place);
  });
}

Expr no_value(ReaderParts& reader, Type* type, Place place) {
  return delayed(reader, place, type, [&reader, type, place] {
    TreeBuilder& tree = reader.tree;
    int64_t leaf = 0;
    Expr nothing = tree.relax_call(place, "const", {tree.integer(place, 0), tree.string(place, "int64")});
    return Leaves(reader).read(nothing, -1, leaf, type, place);
  });
}

}  // namespace relaxc::relay
