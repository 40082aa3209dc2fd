// signatures.cpp: the types of functions and values, and polymorphic functions as one function for each list of types.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/dtype.h"
#include "frontends/relay/text/grammar.h"

namespace relaxc::relay {

using ast::ExprKind;

namespace {

constexpr size_t kMostInstances = 500;
constexpr int kDeepestType = 100;

}  // namespace

Type* Grammar::read_type_at(size_t at, const TypeNames& names) {
  const size_t back = std::exchange(at_, at);
  Type* read = read_type(names);
  at_ = back;
  return read;
}

Type* Grammar::written_type(size_t at) {
  Type* read = read_type_at(at, type_names_);
  return read == nullptr ? types_.variable(true) : read;
}

/// Types up to `close`.
Type* Grammar::read_parts(std::string_view close, const TypeNames& names, Type::Kind kind, std::string text) {
  std::vector<Type*> parts;
  if (++nesting_ > kDeepestType)
    return refuse(peek().place, Kind::syntax, "nested more than {} levels deep", kDeepestType);
  while (!peek().is(close)) {
    parts.push_back(read_type(names));
    if (parts.back() == nullptr) return nullptr;
    if (!accept(",")) break;
  }
  --nesting_;
  if (!expect(close, "behind types")) return nullptr;
  return types_.compound(kind, std::move(parts), std::move(text));
}

/// A type, in which `names` stand for others.
Type* Grammar::read_type(const TypeNames& names) {
  const Token token = take();
  if (token.is("(")) return read_parts(")", names, Type::kTuple, "");
  if (token.is_name("fn")) {
    if (!expect("(", "in front of the types of parameters")) return nullptr;
    Type* function = read_parts(")", names, Type::kFunction, "");
    if (function == nullptr || !expect("->", "in front of the type of a result")) return nullptr;
    function->parts.push_back(read_type(names));
    return function->parts.back() == nullptr ? nullptr : function;
  }
  if (token.is_name("Tensor")) {
    if (!expect("[", "behind Tensor") || !expect("(", "in front of dims")) return nullptr;
    std::vector<int64_t> dims;
    while (!peek().is(")") && peek().kind != TokenKind::kEnd) {
      const Token dim = take();
      if (dim.is_name("Any") && accept("(")) take();
      const bool digits = dim.kind == TokenKind::kNumber && dim.text.size() < 19 &&
                          dim.text.find_first_not_of("0123456789") == std::string::npos;
      dims.push_back(digits ? std::stoll(dim.text) : Type::kOpenDim);
      if (!accept(",")) break;
    }
    if (!expect(")", "behind dims") || !expect(",", "behind a shape")) return nullptr;
    const std::string dtype = take().text;
    if (!expect("]", "behind a dtype")) return nullptr;
    const bool bare = dtype == "int" || dtype == "uint" || dtype == "float";
    return types_.tensor(std::move(dims), bare ? dtype + "32" : dtype);
  }
  if (token.kind == TokenKind::kName) {
    if (auto known = names.find(token.text); known != names.end()) return known->second;
    if (auto data = data_types_.find(token.text); data != data_types_.end()) {
      Type* made =
          accept("[") ? read_parts("]", names, Type::kData, token.text) : types_.compound(Type::kData, {}, token.text);
      if (made != nullptr && made->parts.size() != data->second.params.size())
        return refuse(token.place, Kind::wrong_arity, "'{}' takes {} types, found {}", token.text,
                      data->second.params.size(), made->parts.size());
      return made;
    }
    const bool bare = token.text == "int" || token.text == "uint" || token.text == "float";
    const std::string dtype = bare ? token.text + "32" : token.text;
    if (parse_dtype(dtype)) return types_.tensor({}, dtype);
    return refuse(token.place, Kind::unbound_name, "there is no type '{}'", token.text);
  }
  --at_;
  unexpected("a type such as Tensor[(1, 4), float32]");
  return nullptr;
}

/// The type of a function of the module; null if its head is not as it should be, which reading it reports.
Type* Grammar::signature(const Definition& definition, const TypeNames& names) {
  const size_t back = std::exchange(at_, definition.begin + 1);
  while (!definition.type_params.empty() && at_ < definition.end && !take().is("]")) {
  }
  Type* made = types_.compound(Type::kFunction, {});
  bool ok = accept("(");
  while (ok && !peek().is(")") && at_ < definition.end) {
    if (peek().kind == TokenKind::kName) {  // attributes
      while (!peek().is(")") && at_ < definition.end) take();
      break;
    }
    ok = take().kind == TokenKind::kLocal;
    while (ok && peek().is("{") && at_ < definition.end)
      while (!take().is("}") && at_ < definition.end) {
      }
    Type* param = ok && accept(":") ? read_type(names) : nullptr;
    ok = param != nullptr;
    made->parts.push_back(param);
    if (!accept(",")) break;
  }
  ok = ok && accept(")");
  Type* result = !ok ? nullptr : accept("->") ? read_type(names) : types_.variable(true);
  made->parts.push_back(result);
  at_ = back;
  return result == nullptr ? nullptr : made;
}

Type* Grammar::type_of(Expr value) {
  if (auto known = types_of_.find(value); known != types_of_.end()) return known->second;
  Type* made = nullptr;
  if (value->is(ExprKind::kName)) {
    auto known = types_of_names_.find(value->text);
    if (known != types_of_names_.end()) return known->second;
  } else if (value->is(ExprKind::kTuple)) {
    std::vector<Type*> parts;
    for (Expr item : value->items) parts.push_back(type_of(item));
    made = types_.compound(Type::kTuple, std::move(parts));
  } else if (value->is(ExprKind::kSubscript) && value->items[1]->is(ExprKind::kInt)) {
    Type* tuple = types_.resolved(type_of(value->items[0]));
    const std::string& digits = value->items[1]->text;
    const size_t index = digits.size() < 9 ? std::stoul(digits) : tuple->parts.size();
    if (tuple->kind == Type::kTuple && index < tuple->parts.size()) made = tuple->parts[index];
  }
  return types_of_[value] = made == nullptr ? types_.variable(true) : made;
}

/// A function of the module as a value; which instance of it is meant is known when all types are.
Grammar::Expr Grammar::global(const Token& token) {
  auto found = functions_.find(token.text);
  if (found == functions_.end())
    return refuse(token.place, Kind::unbound_name, "there is no function '@{}' in the text", token.text);
  Expr plain = name(token.place, token.text);
  if (!infers_) return plain;
  TypeNames types;
  for (const std::string& param : found->second.type_params) types[param] = types_.variable();
  const size_t errors = source_.diag().error_count();
  Type* type = signature(found->second, types);
  if (type == nullptr && types.empty()) return plain;
  if (type == nullptr && source_.diag().error_count() == errors)
    return refuse(token.place, Kind::syntax, "the types of the parameters of '@{}' cannot be read", token.text);
  if (type == nullptr) return nullptr;
  if (types.empty()) return typed(plain, type);
  ast::Expr* callee = hole(token.place);
  callee->kind = ExprKind::kName;
  holes_.push_back([this, callee, types, function = token.text] {
    callee->text = instance(function, types, callee->place);
    return !callee->text.empty();
  });
  return typed(callee, type);
}

Type* Grammar::type_of_call(Expr callee, const std::vector<Expr>& arguments, const std::string& attributes) {
  if (callee->is(ExprKind::kAttribute)) {
    std::vector<Type*> types;
    for (Expr argument : arguments) types.push_back(type_of(argument));
    return types_.of_operator(callee->text, std::move(types), attributes);
  }
  Type* function = types_.resolved(type_of(callee));
  if (function->kind != Type::kFunction || function->parts.size() != arguments.size() + 1) return types_.variable(true);
  check_call(callee, *function, arguments);
  return function->parts.back();
}

/// Where types decide what a program means, they have to fit.
void Grammar::check_call(Expr callee, Type& function, const std::vector<Expr>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    Type* given = type_of(arguments[i]);
    if (types_.unify(function.parts[i], given)) continue;
    const bool matters = types_.holds_data(function.parts[i]) || types_.holds_data(given);
    const bool is_global = functions_.count(callee->text) == 0 && callee->text.empty();
    if (matters || is_global)
      (void)refuse(arguments[i]->place, Kind::dtype_mismatch, "argument {} is {}, where {} is needed", i,
                   types_.text(given), types_.text(function.parts[i]));
  }
}

/// What `function` is called for these types; empty: reported.
std::string Grammar::instance(const std::string& function, const TypeNames& types, Place place) {
  std::string key = function;
  for (const auto& [param, type] : types) {
    std::string text = types_.text(type);
    if (text.empty() || instances_.size() >= kMostInstances) {
      (void)refuse(place, Kind::unbounded, "calls of '@{}' need more and more types for '{}', without an end", function,
                   param);
      return {};
    }
    key += " " + text;
  }
  auto [known, fresh] = instance_of_.emplace(key, "");
  if (fresh) {
    known->second = unique(function);
    instances_.push_back({function, known->second, types});
  }
  return known->second;
}

/// A function that others call takes and gives tensors.
bool Grammar::refuse_data_of(const Definition& definition, const std::string& called) {
  const size_t errors = source_.diag().error_count();
  Type* type = signature(definition, {});
  if (type == nullptr || !types_.holds_data(type)) return source_.diag().error_count() > errors;
  std::string data;
  for (Type* part : type->parts)
    if (types_.holds_data(part)) data = types_.text(part);
  (void)refuse(tokens_[definition.begin].place, Kind::unsupported,
               "'@{}' takes or gives {}; inputs and outputs of a program are tensors", called, data);
  return true;
}

/// A type as the text of Relax has it. One that stays unknown has no values, as an element of Nil.
Grammar::Expr Grammar::info_of(Type* type, Unknown unknown, const std::string& called, Place place) {
  type = types_.resolved(type);
  std::vector<Expr> parts;
  auto read = [&](size_t count) {
    for (size_t i = 0; i < count; ++i)
      parts.push_back(info_of(type->parts[i], unknown, called + "_" + std::to_string(i), place));
  };
  switch (type->kind) {
    case Type::kTensor: {
      bool known = true;
      for (size_t i = 0; i < type->dims.size(); ++i) {
        const bool open = type->dims[i] == Type::kOpenDim;
        known = known && (!open || unknown == Unknown::kSymbols);
        std::string symbol = called + "_" + std::to_string(i);
        parts.push_back(!open                          ? integer(place, type->dims[i])
                        : unknown == Unknown::kSymbols ? name(place, unique(symbol))
                                                       : name(place, "_"));
      }
      return tensor_info(place, known ? make(ExprKind::kTuple, place, std::move(parts)) : nullptr, type->text,
                         type->dims.size());
    }
    case Type::kTuple:
      read(type->parts.size());
      return relax_call(place, "Tuple", std::move(parts));
    case Type::kFunction: {
      read(type->parts.size() - 1);
      Expr result = info_of(type->parts.back(), Unknown::kRank, called, place);
      return relax_call(place, "Callable", {make(ExprKind::kTuple, place, std::move(parts)), result});
    }
    case Type::kVariable:
      if (type->is_hidden)
        return refuse(place, Kind::unbounded, "the type of '{}' is not known where this function is called", called);
      break;
    case Type::kOperator:
    case Type::kData:
      break;
  }
  return tensor_info(place, make(ExprKind::kTuple, place), "int64", 0);
}

/// All types of the function are known now, as far as they will be.
bool Grammar::fill_holes() {
  bool ok = true;
  for (size_t i = 0; i < holes_.size() && ok; ++i) ok = holes_[i]();
  holes_.clear();
  return ok;
}

}  // namespace relaxc::relay
