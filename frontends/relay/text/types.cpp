// types.cpp: converts Relay's types to Relax's.
//
// A dim `?` of a parameter becomes a new symbol named after the parameter and the axis. In the type of a result, it
// leaves only the tensor's rank; the function's body tells more.
#include "compiler/support/dtype.h"
#include "frontends/relay/text/grammar.h"

namespace relaxc::relay {

using ast::ExprKind;

namespace {

/// Adds the width of 32 bits to a dtype without a width.
std::string full_dtype(const std::string& written) {
  return written == "int" || written == "uint" || written == "float" ? written + "32" : written;
}

}  // namespace

Grammar::Expr Grammar::tensor_info(Place place, Expr shape, const std::string& written, size_t rank) {
  std::string dtype = full_dtype(written);
  if (!parse_dtype(dtype)) return refuse(place, Kind::invalid_value, "'{}' is not a dtype", dtype);
  Expr head = make(ExprKind::kAttribute, place, {name(place, "R")}, "Tensor");
  ast::Expr& made = tree_.exprs.emplace_back(ast::Expr{ExprKind::kCall, place, {}, {head}, {}, 4});
  if (shape != nullptr) made.items.push_back(shape);
  made.keywords.push_back({"dtype", place, make(ExprKind::kString, place, {}, dtype)});
  if (shape == nullptr) made.keywords.push_back({"ndim", place, make(ExprKind::kInt, place, {}, std::to_string(rank))});
  return &made;
}

/// Parses a number or `?`; sets `known` to false if the dim stays unknown.
Grammar::Expr Grammar::dim(Unknown unknown, const std::string& symbol, bool& known) {
  Token token = take();
  if (token.is("?") || token.is_name("Any")) {
    if (token.is_name("Any") && accept("(") && !expect(")", "behind Any(")) return nullptr;
    known = known && unknown == Unknown::kSymbols;
    return name(token.place, unknown == Unknown::kSymbols ? unique(symbol) : "_");
  }
  if (token.kind == TokenKind::kNumber) return attribute_number(token);
  --at_;
  return unexpected("a dim");
}

/// Parses `Tensor[(1, ?, 4), float32]` after the name.
Grammar::Expr Grammar::tensor_type(Unknown unknown, const std::string& called, Place begin) {
  if (!expect("[", "behind Tensor") || !expect("(", "in front of dims")) return nullptr;
  std::vector<Expr> dims;
  bool known = true;
  while (!peek().is(")")) {
    Expr read = dim(unknown, called + "_" + std::to_string(dims.size()), known);
    if (read == nullptr) return nullptr;
    dims.push_back(read);
    if (!accept(",")) break;
  }
  if (!expect(")", "behind dims") || !expect(",", "behind a shape")) return nullptr;
  Token dtype = take();
  Place whole = join(begin, peek().place);
  if (!expect("]", "behind a dtype")) return nullptr;
  size_t rank = dims.size();
  return tensor_info(whole, known ? make(ExprKind::kTuple, whole, std::move(dims)) : nullptr, dtype.text, rank);
}

/// Parses `fn (T, T) -> T` after `fn`.
Grammar::Expr Grammar::callable_type(Unknown unknown, const std::string& called, Place begin) {
  if (!expect("(", "in front of the types of parameters")) return nullptr;
  std::vector<Expr> params;
  while (!peek().is(")")) {
    Expr read = type(unknown, called + "_" + std::to_string(params.size()));
    if (read == nullptr) return nullptr;
    params.push_back(read);
    if (!accept(",")) break;
  }
  if (!expect(")", "behind the types of parameters") || !expect("->", "in front of the type of a result"))
    return nullptr;
  Expr result = type(Unknown::kRank, called);
  if (result == nullptr) return nullptr;
  return relax_call(begin, "Callable", {make(ExprKind::kTuple, begin, std::move(params)), result});
}

/// Parses a tensor, a scalar such as float32, a tuple in parentheses or a function.
Grammar::Expr Grammar::type(Unknown unknown, const std::string& called) {
  constexpr int kDeepest = 100;
  Token token = take();
  if (token.is_name("Tensor")) return tensor_type(unknown, called, token.place);
  if (token.is_name("fn")) {
    if (++nesting_ > kDeepest) return refuse(token.place, Kind::syntax, "nested more than {} levels deep", kDeepest);
    Expr read = callable_type(unknown, called, token.place);
    --nesting_;
    return read;
  }
  if (token.is("(")) {
    if (++nesting_ > kDeepest) return refuse(token.place, Kind::syntax, "nested more than {} levels deep", kDeepest);
    std::vector<Expr> fields;
    while (!peek().is(")")) {
      Expr read = type(unknown, called + "_" + std::to_string(fields.size()));
      if (read == nullptr) return nullptr;
      fields.push_back(read);
      if (!accept(",")) break;
    }
    --nesting_;
    if (!expect(")", "behind the types of a tuple")) return nullptr;
    return relax_call(token.place, "Tuple", std::move(fields));
  }
  if (token.kind == TokenKind::kName && data_types_.count(token.text) != 0) {
    --at_;
    Type* read = read_type(type_names_);
    return read == nullptr ? nullptr : info_of(read, unknown, called, token.place);
  }
  if (auto param = type_names_.find(token.text); token.kind == TokenKind::kName && param != type_names_.end())
    return info_of(param->second, unknown, called, token.place);
  if (token.is_name("ref") || token.is_name("Ref"))
    return refuse(token.place, Kind::unsupported, "a reference cannot be a parameter or a part of a type");
  if (token.kind == TokenKind::kName && parse_dtype(full_dtype(token.text)))
    return tensor_info(token.place, make(ExprKind::kTuple, token.place), token.text, 0);
  --at_;
  return unexpected("a type such as Tensor[(1, 4), float32]");
}

}  // namespace relaxc::relay
