// data.cpp: data types, and the values that their constructors make.
//
// A value of a data type is an int64 scalar (compiler/ops/algebraic.cpp). Its node holds tensors: a field that is a
// tuple is as many as that has parts, one in another. How many, and of which sizes, types say; so what is written here
// is a hole until all types of the function are inferred.
#include "frontends/relay/text/grammar.h"

namespace relaxc::relay {

using ast::ExprKind;
using ast::StmtKind;

/// `type List[A] { Cons(A, List[A]), Nil, }`
void Grammar::declare_type(size_t begin, size_t end) {
  at_ = begin + 1;
  Token head = take();
  auto [entry, fresh] = data_types_.emplace(head.text, DataType{head.place, {}, {}});
  DataType& type = entry->second;
  if (!fresh) {
    (void)refuse(head.place, Kind::redefinition, "two types are named '{}'", head.text);
    return;
  }
  infers_ = true;
  if (accept("[")) {
    while (peek().kind == TokenKind::kName) {
      type.params.push_back(take().text);
      if (!accept(",")) break;
    }
    if (!expect("]", "behind the parameters of a type")) return;
  }
  if (accept(";") || at_ >= end) return;  // without constructors
  if (!expect("{", "in front of constructors")) return;
  while (!peek().is("}")) {
    if (!constructor(type, head.text)) return;
    if (!accept(",")) break;
  }
  if (expect("}", "behind constructors") && at_ != end) unexpected("'def @name' or 'type'");
}

/// `Cons(A, List[A])`: its types are read when they are asked for, since they may be declared below.
bool Grammar::constructor(DataType& type, const std::string& of) {
  const Token name = take();
  if (name.kind != TokenKind::kName) {
    --at_;
    return unexpected("a constructor") != nullptr;
  }
  Constructor made{name.text, of, name.place, type.constructors.size(), {}};
  if (accept("(")) {
    int open = 0;
    bool begins = true;
    while (!(open == 0 && peek().is(")"))) {
      if (peek().kind == TokenKind::kEnd) return expect(")", "behind the fields of a constructor");
      if (begins) made.fields.push_back(at_);
      const Token token = take();
      open += (token.is("(") || token.is("[") ? 1 : 0) - (token.is(")") || token.is("]") ? 1 : 0);
      begins = open == 0 && token.is(",");
    }
    take();
  }
  type.constructors.push_back(name.text);
  if (!constructors_.emplace(name.text, std::move(made)).second)
    return refuse(name.place, Kind::redefinition, "two constructors are named '{}'", name.text) != nullptr;
  return true;
}

/// The type of what `made` makes, with variables for the parameters, which `types` receives.
Type* Grammar::data_type_of(const Constructor& made, TypeNames& types) {
  std::vector<Type*> arguments;
  for (const std::string& param : data_types_.at(made.type).params)
    arguments.push_back(types[param] = types_.variable());
  return types_.compound(Type::kData, std::move(arguments), made.type);
}

/// Null fields: what was wrong was reported.
std::vector<Type*> Grammar::fields_of(const Constructor& made, const TypeNames& types) {
  std::vector<Type*> fields;
  for (size_t begin : made.fields) fields.push_back(read_type_at(begin, types));
  return fields;
}

ast::Expr* Grammar::hole(Place place) {
  constexpr uint32_t kDepth = 8;
  ast::Expr& made = tree_.exprs.emplace_back();
  made.place = place, made.depth = kDepth;
  return &made;
}

Grammar::Expr Grammar::integer(Place place, int64_t value) {
  if (value < 0) return make(ExprKind::kUnary, place, {integer(place, -value)}, "-");
  return make(ExprKind::kInt, place, {}, std::to_string(value));
}

/// R.op(arguments, key=value)
Grammar::Expr Grammar::int_keyword_call(Place place, std::string_view op, std::vector<Expr> arguments,
                                        const std::vector<std::pair<std::string, Expr>>& keywords) {
  Expr family = make(ExprKind::kAttribute, place, {name(place, "R")}, "adt");
  arguments.insert(arguments.begin(), make(ExprKind::kAttribute, place, {family}, std::string(op)));
  constexpr uint32_t kDepth = 4;
  ast::Expr& made = tree_.exprs.emplace_back(ast::Expr{ExprKind::kCall, place, {}, std::move(arguments), {}, kDepth});
  for (const auto& [key, value] : keywords) made.keywords.push_back({key, place, value});
  return &made;
}

/// `Cons(%x, Nil)`
Grammar::Expr Grammar::construct() {
  const Token token = take();
  const Constructor& made = constructors_.at(token.text);
  std::vector<Expr> values;
  Place whole = token.place;
  if (accept("(")) {
    while (!peek().is(")")) {
      Expr value = expression();
      if (value == nullptr) return nullptr;
      values.push_back(named(value, "field", value->place));
      if (!accept(",")) break;
    }
    whole = join(whole, peek().place);
    if (!expect(")", "behind the fields of a constructor")) return nullptr;
  } else if (!made.fields.empty()) {
    return refuse(token.place, Kind::unsupported, "the constructor '{}' is not a value; call it in a function",
                  token.text);
  }
  if (values.size() != made.fields.size())
    return refuse(whole, Kind::wrong_arity, "'{}' has {} fields, found {}", token.text, made.fields.size(),
                  values.size());
  TypeNames types;
  Type* type = data_type_of(made, types);
  std::vector<Type*> fields = fields_of(made, types);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == nullptr) return nullptr;
    if (types_.unify(fields[i], type_of(values[i]))) continue;
    return refuse(values[i]->place, Kind::dtype_mismatch, "field {} of '{}' is {}, found {}", i, token.text,
                  types_.text(fields[i]), types_.text(type_of(values[i])));
  }
  ast::Expr* result = hole(whole);
  holes_.push_back([this, result, &made, values] { return fill_construct(*result, made, values); });
  return typed(result, type);
}

bool Grammar::fill_construct(ast::Expr& into, const Constructor& made, const std::vector<Expr>& values) {
  std::vector<Expr> leaves;
  for (Expr value : values)
    if (!add_leaves(value, types_.resolved(type_of(value)), leaves)) return false;
  Expr tag = integer(into.place, static_cast<int64_t>(made.tag));
  Expr fields = make(ExprKind::kTuple, into.place, std::move(leaves));
  const uint32_t depth = into.depth;
  into = *int_keyword_call(into.place, "construct", {fields}, {{"tag", tag}});
  into.depth = depth;
  return true;
}

/// The tensors that `value` is.
bool Grammar::add_leaves(Expr value, Type* type, std::vector<Expr>& leaves) {
  constexpr size_t kMost = 256;
  type = types_.resolved(type);
  if (type->kind == Type::kFunction)
    return refuse(value->place, Kind::unsupported, "functions in the fields of data are not supported") != nullptr;
  if (type->kind != Type::kTuple) {
    if (leaves.size() == kMost)
      return refuse(value->place, Kind::unsupported, "data with more than {} tensors in a node", kMost) != nullptr;
    leaves.push_back(value);
    return true;
  }
  for (size_t i = 0; i < type->parts.size(); ++i) {
    Expr part = make(ExprKind::kSubscript, value->place, {value, integer(value->place, static_cast<int64_t>(i))});
    if (!add_leaves(part, type->parts[i], leaves)) return false;
  }
  return true;
}

int64_t Grammar::leaf_count(Type* type) {
  type = types_.resolved(type);
  if (type->kind != Type::kTuple) return 1;
  int64_t count = 0;
  for (Type* part : type->parts) count += leaf_count(part);
  return count;
}

Grammar::Expr Grammar::field(Expr value, const Constructor& made, const std::vector<Type*>& fields, size_t index,
                             Place place) {
  ast::Expr* result = hole(place);
  const auto tag = static_cast<int64_t>(made.tag);
  holes_.push_back([this, result, value, tag, fields, index, place] {
    int64_t leaf = 0;
    for (size_t i = 0; i < index; ++i) leaf += leaf_count(fields[i]);
    Expr read = read_leaves(value, tag, leaf, fields[index], place);
    if (read != nullptr) *result = *read;
    return read != nullptr;
  });
  return typed(result, fields[index]);
}

/// A field of this type, whose first tensor is number `leaf`. A type that stays unknown has no values: any will do.
Grammar::Expr Grammar::read_leaves(Expr value, int64_t tag, int64_t& leaf, Type* type, Place place) {
  type = types_.resolved(type);
  if (type->kind == Type::kTuple) {
    std::vector<Expr> parts;
    for (Type* part : type->parts) {
      parts.push_back(read_leaves(value, tag, leaf, part, place));
      if (parts.back() == nullptr) return nullptr;
    }
    return parts.empty() ? relax_call(place, "tuple", {}) : make(ExprKind::kTuple, place, std::move(parts));
  }
  if (type->kind == Type::kFunction)
    return refuse(place, Kind::unsupported, "functions in the fields of data are not supported");
  if (type->kind == Type::kVariable && type->is_hidden)
    return refuse(place, Kind::unbounded, "the type of this field is not known here; 'let %x: T = …' can say it");
  const bool is_tensor = type->kind == Type::kTensor;
  std::vector<Expr> dims;
  for (int64_t dim : is_tensor ? type->dims : std::vector<int64_t>()) {
    if (dim == Type::kOpenDim)
      return refuse(place, Kind::unsupported, "fields of data need fixed dims, found {}", types_.text(type));
    dims.push_back(integer(place, dim));
  }
  Expr shape = relax_call(place, "shape", {make(ExprKind::kList, place, std::move(dims))});
  Expr dtype = make(ExprKind::kString, place, {}, is_tensor ? type->text : "int64");
  return int_keyword_call(place, "field", {value, shape},
                          {{"tag", integer(place, tag)}, {"index", integer(place, leaf++)}, {"dtype", dtype}});
}

/// What stands where no clause of a partial match fits: reading it ends the run.
Grammar::Expr Grammar::no_value(Type* type, Place place) {
  ast::Expr* result = hole(place);
  holes_.push_back([this, result, type, place] {
    int64_t leaf = 0;
    Expr nothing = relax_call(place, "const", {integer(place, 0), make(ExprKind::kString, place, {}, "int64")});
    Expr read = read_leaves(nothing, -1, leaf, type, place);
    if (read != nullptr) *result = *read;
    return read != nullptr;
  });
  return typed(result, type);
}

}  // namespace relaxc::relay
