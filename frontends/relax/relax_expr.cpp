// relax_expr.cpp: the expressions of a Relax function: names, tuples, subscripts, infix operators, and the forms of the
// language that are no operators of the table.
#include <cstring>

#include "frontends/relax/constant_reader.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/relax_function.h"
#include "frontends/relax/suggest.h"
#include "frontends/relax/unsupported_aot.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

struct Infix {
  std::string_view text, op;
};
constexpr Infix kInfix[] = {
    {"+", "add"},          {"-", "subtract"},       {"*", "multiply"},   {"/", "divide"},      {"//", "floor_divide"},
    {"%", "mod"},          {"@", "matmul"},         {"**", "power"},     {"<", "less"},        {"<=", "less_equal"},
    {">", "greater"},      {">=", "greater_equal"}, {"==", "equal"},     {"!=", "not_equal"},  {"and", "logical_and"},
    {"or", "logical_or"},  {"&", "bitwise_and"},    {"|", "bitwise_or"}, {"^", "bitwise_xor"}, {"<<", "left_shift"},
    {">>", "right_shift"},
};

/// A tuple of itself twice, again and again, would grow without bound; types of tuples are walked by recursion.
constexpr size_t kMostParts = 65536, kDeepestTuple = 200;

struct Extent {
  size_t parts = 1, depth = 1;
};
Extent extent_of(const Term& term) {
  Extent all;
  for (const Term& item : term.items) {
    Extent inner = extent_of(item);
    all.parts += inner.parts, all.depth = std::max(all.depth, inner.depth + 1);
  }
  return all;
}

std::string_view infix_operator(std::string_view text) {
  for (const Infix& infix : kInfix)
    if (infix.text == text) return infix.op;
  return {};
}

}  // namespace

Result<Term> RelaxFunctionReader::eval(const ast::Expr& e) {
  switch (e.kind) {
    case AstKind::kName:
      return name_term(e);
    case AstKind::kInt:
    case AstKind::kFloat:
    case AstKind::kTrue:
    case AstKind::kFalse: {
      RELAXC_TRY(Scalar scalar, read(e));
      return Term::of(scalar);
    }
    case AstKind::kString:
      return Term::of(Term::kString, e.text);
    case AstKind::kNone:
      return Term::of(Term::kNone);
    case AstKind::kTuple:
    case AstKind::kList:
      return sequence(e);
    case AstKind::kAttribute:
      return attribute(e);
    case AstKind::kSubscript:
      return element(e);
    case AstKind::kUnary:
    case AstKind::kBinary:
    case AstKind::kCompare:
    case AstKind::kBoolOp:
      return infix(e);
    case AstKind::kCall:
      return call(e);
    case AstKind::kIfElse:
      return source_.error(e.place, Kind::unsupported,
                           "'a if c else b' has no meaning in a Relax function; an 'if' statement binds one name in "
                           "both branches");
    default:
      break;
  }
  return source_.error(e.place, Kind::unsupported, "{} has no meaning in a Relax function", describe(e));
}

Result<Term> RelaxFunctionReader::name_term(const ast::Expr& e) {
  if (auto* known = find(e.text)) {
    if (known->value.kind == Term::kPoison) return source_.diag().failed();
    if (known->value.kind == Term::kScalar && unbound_.count(known->value.scalar.expr) != 0)
      return source_.error(e.place, Kind::unbound_name,
                           "the symbol '{}' has no value yet; a match_cast can give it one", e.text);
    return known->value;
  }
  // A class may have a function of its own name, which is reached through the class.
  if (scope_.module_names.count(e.text) != 0) return Term::of(Term::kModule);
  if (scope_.globals.count(e.text) != 0) return Term::of(Term::kGlobal, e.text);
  return unbound(e, false);
}

Result<Term> RelaxFunctionReader::sequence(const ast::Expr& e) {
  std::vector<Term> items;
  bool ok = true;
  for (const ast::Expr* item : e.items) {
    Result<Term> term = eval(*item);
    ok = ok && term;
    items.push_back(term ? *term : Term());
  }
  if (!ok) return source_.diag().failed();
  Term made = Term::sequence(std::move(items));
  Extent extent = extent_of(made);
  if (extent.depth > kDeepestTuple)
    return source_.error(e.place, Kind::unsupported, "tuples inside of each other, more than {} deep", kDeepestTuple);
  if (extent.parts > kMostParts)
    return source_.error(e.place, Kind::unsupported, "a tuple of more than {} parts, nested ones included", kMostParts);
  return made;
}

/// cls.f, x.shape, x.struct_info.shape
Result<Term> RelaxFunctionReader::attribute(const ast::Expr& e) {
  std::string path = path_of(e);
  if (path.rfind("R.", 0) == 0 || path.rfind("T.", 0) == 0)
    return source_.error(e.place, Kind::invalid_value, "'{}' is a function; call it", path);
  RELAXC_TRY(Term base, eval(e.text == "shape" ? without_type(*e.items[0]) : *e.items[0]));
  if (base.kind == Term::kModule) {
    if (scope_.globals.count(e.text) != 0) return Term::of(Term::kGlobal, e.text);
    if (auto named = scope_.externals.find(e.text); named != scope_.externals.end())
      return Term::of(Term::kExternal, named->second);
    Failure failure = source_.error(e.place, Kind::unbound_name, "the module has no function '{}'", e.text);
    if (auto near = nearest_name(e.text, scope_.global_names())) source_.hint("did you mean '{}'?", *near);
    return failure;
  }
  if (base.kind == Term::kValue && e.text == "shape") {
    pin(*base.value);
    if (const auto* tensor = base.value->info->as<relax::TensorInfo>(); tensor && tensor->shape) {
      std::vector<Term> dims;
      for (arith::Expr dim : *tensor->shape) dims.push_back(Term::of(Scalar{dim}));
      return Term::sequence(std::move(dims));
    }
    return source_.error(e.place, Kind::shape_mismatch, "the shape of {} is not known here; match_cast can give it",
                         relax::to_string(base.value->info));
  }
  return source_.error(e.place, Kind::unsupported, "'{}' has no meaning here", e.text);
}

/// t[0] of a tuple, a shape or the results of an op; metadata[…][…].
Result<Term> RelaxFunctionReader::element(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  const ast::Expr& base = *e.items[0];
  bool metadata = base.is(AstKind::kSubscript) && path_of(*base.items[0]) == "metadata";
  if (e.items.size() != 2 || e.items[1]->is(AstKind::kSlice)) {
    Failure failure = source_.error(e.place, Kind::unsupported, "a subscript takes one part of a tuple or a shape");
    source_.hint("R.strided_slice and R.take read parts of a tensor");
    return failure;
  }
  RELAXC_TRY(arith::Expr position, index(*e.items[1]));
  if (position.constant() == nullptr)
    return source_.error(e.items[1]->place, Kind::invalid_value, "a subscript of a tuple is a number");
  int64_t at_index = *position.constant();
  if (metadata) {
    auto found = scope_.constants.find(at_index);
    if (found != scope_.constants.end()) return Term::of(graph_.at(e.place).constant(found->second));
    if (scope_.bad_metadata) return diag.failed();
    if (scope_.has_metadata || !scope_.constants.empty())
      return source_.error(e.place, Kind::missing_data, "there is no constant {}; the metadata has {} constants",
                           at_index, scope_.constants.size());
    Failure failure = source_.error(e.place, Kind::missing_data, "constant {} is not in the text", at_index);
    source_.hint("print the module with show_meta=True, or name a file that has it with --params");
    return failure;
  }
  RELAXC_TRY(Term term, eval(base));
  if (term.kind == Term::kValue) pin(*term.value);
  if (term.kind == Term::kValue)
    if (const auto* shape = term.value->info->as<relax::ShapeInfo>(); shape && shape->dims) {
      std::vector<Term> dims;
      for (arith::Expr dim : *shape->dims) dims.push_back(Term::of(Scalar{dim}));
      term = Term::sequence(std::move(dims));
    }
  if (term.kind == Term::kSequence) {
    int64_t size = static_cast<int64_t>(term.items.size());
    if (at_index < -size || at_index >= size)
      return source_.error(e.items[1]->place, Kind::invalid_value, "index {} of a tuple of {}", at_index, size);
    return term.items[static_cast<size_t>(at_index < 0 ? at_index + size : at_index)];
  }
  if (term.kind != Term::kValue) return source_.error(base.place, Kind::dtype_mismatch, "only a tuple has parts");
  RELAXC_TRY(Value * part, graph_.at(e.place).tuple_get(term.value, at_index));
  return Term::of(part);
}

Result<Term> RelaxFunctionReader::infix(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  bool unary = e.is(AstKind::kUnary);
  Result<Term> a = eval(*e.items[0]);
  Result<Term> b = unary ? Result<Term>(Term::of(Term::kNone)) : eval(*e.items[1]);
  if (!a || !b) return diag.failed();
  if (a->kind == Term::kScalar && (unary || b->kind == Term::kScalar)) {
    RELAXC_TRY(Scalar scalar, read(e));
    return Term::of(scalar);
  }
  auto has_dims = [](const Term& term) {
    return term.kind == Term::kValue && term.value->info->as<relax::PrimInfo>() &&
           term.value->info->as<relax::PrimInfo>()->value;
  };
  bool scalars = (a->kind == Term::kScalar || has_dims(*a)) && (unary || b->kind == Term::kScalar || has_dims(*b));
  if (scalars) {
    RELAXC_TRY(Scalar scalar, read(e));
    return Term::of(scalar);
  }
  if (unary) {
    std::string_view op = e.text == "-"     ? "negative"
                          : e.text == "not" ? "logical_not"
                          : e.text == "~"   ? "bitwise_not"
                                            : "";
    if (op.empty()) return *a;
    RELAXC_TRY(const relax::OpDef* def, find_operator(std::string(op), e.place));
    return apply(*def, {{*a, e.items[0]->place}}, {}, e.place);
  }
  RELAXC_TRY(const relax::OpDef* def, find_operator(std::string(infix_operator(e.text)), e.place));
  return apply(*def, {{*a, e.items[0]->place}, {*b, e.items[1]->place}}, {}, e.place);
}

Result<Term> RelaxFunctionReader::call(const ast::Expr& e) {
  std::string path = path_of(*e.items[0]);
  if (path.rfind("relax.op.", 0) == 0) path = "R." + path.substr(9);
  if (path.rfind("relax.", 0) == 0) path = "R." + path.substr(6);
  bool known = false;
  Result<Term> made = transparent(path, e, known);
  if (!known) made = special(path, e, known);
  if (known) return made;
  if (std::string_view why = why_unsupported_aot(path); !why.empty())
    return source_.error(e.items[0]->place, Kind::unsupported, "'{}' {}", path, why);
  if (is_python_function(path) && scope_.globals.count(path) == 0)
    return source_.error(e.items[0]->place, Kind::unsupported,
                         "'{}' is a function of Python, which computes while a module is built", path);
  if (path.rfind("R.", 0) == 0) return operator_call(path.substr(2), e);
  if (path.rfind("T.", 0) == 0 || path == "max" || path == "min") {
    RELAXC_TRY(Scalar scalar, read(e));
    return Term::of(scalar);
  }
  if (path == "float" && e.items.size() == 2) {
    RELAXC_TRY(Scalar scalar, read(e));
    return Term::of(Scalar{scalar.expr, Scalar::kReal});
  }
  if (e.items[0]->is(AstKind::kAttribute) && e.items[0]->text == "astype" && e.items.size() == 2) {
    RELAXC_TRY(Term operand, eval(*e.items[0]->items[0]));
    RELAXC_TRY(const relax::OpDef* def, find_operator("astype", e.place));
    RELAXC_TRY(DType dtype, dtype_value(source_, *e.items[1]));
    return apply(*def, {{operand, e.place}}, {{"dtype", dtype}}, e.place);
  }
  // f[n](x): the symbols of f in brackets.
  bool symbols = e.items[0]->is(AstKind::kSubscript) && e.items[0]->items[0]->is(AstKind::kAttribute);
  if (e.items[0]->is(AstKind::kSubscript) && e.items[0]->items[0]->is(AstKind::kName))
    symbols = find(e.items[0]->items[0]->text) == nullptr;
  RELAXC_TRY(Term function, eval(symbols ? *e.items[0]->items[0] : *e.items[0]));
  if (function.kind == Term::kGlobal) return call_global(function.text, e);
  if (function.kind == Term::kSelf || function.kind == Term::kValue) return call_value(function, e);
  return source_.error(e.items[0]->place, Kind::invalid_value, "this is no function");
}

/// The forms that are no operators; `known` is false for any other, or with another number of arguments.
Result<Term> RelaxFunctionReader::special(const std::string& path, const ast::Expr& e, bool& known) {
  using Reader = RelaxFunctionReader;
  struct Form {
    std::string_view path;
    Result<Term> (Reader::*read)(const ast::Expr&);
    size_t least = 0, most = SIZE_MAX;  ///< arguments
  };
  static constexpr Form kForms[] = {{"R.call_tir", &Reader::call_tir},
                                    {"R.call_tir_with_grad", &Reader::call_tir},
                                    {"R.call_dps", &Reader::call_dps},
                                    {"R.call_dps_packed", &Reader::call_dps_packed},
                                    {"R.call_packed", &Reader::call_packed},
                                    {"R.call_pure_packed", &Reader::call_packed},
                                    {"R.invoke_pure_packed", &Reader::call_packed},
                                    {"R.call_tir_inplace", &Reader::call_tir_inplace},
                                    {"R.call_inplace_packed", &Reader::call_inplace_packed},
                                    {"R.assert_op", &Reader::assert_op},
                                    {"R.print", &Reader::print},
                                    {"R.match_cast", &Reader::match_cast},
                                    {"R.emit_match_cast", &Reader::match_cast},
                                    {"R.match_shape", &Reader::match_shape},
                                    {"R.make_closure", &Reader::make_closure},
                                    {"R.invoke_closure", &Reader::invoke_closure},
                                    {"R.invoke_pure_closure", &Reader::invoke_closure},
                                    {"R.const", &Reader::constant},
                                    {"R.ExternFunc", &Reader::extern_func, 1, 1},
                                    {"R.shape", &Reader::shape, 1, 1},
                                    {"R.prim_value", &Reader::prim_value, 1, 1},
                                    {"R.tuple", &Reader::tuple},
                                    {"R.TupleGetItem", &Reader::tuple_get_item, 1, 2},
                                    {"R.shape_of", &Reader::shape_of, 1, 1}};
  size_t arguments = e.items.size() - 1;
  for (const Form& form : kForms) {
    if (form.path != path || arguments < form.least || arguments > form.most) continue;
    if (path == "R.TupleGetItem" && arguments == 1 && e.keyword("index") == nullptr) continue;
    known = true;
    return (this->*form.read)(e);
  }
  known = false;
  return Term();
}

Result<Term> RelaxFunctionReader::extern_func(const ast::Expr& e) {
  RELAXC_TRY(std::string symbol, string_value(source_, *e.items[1], "a symbol"));
  return Term::of(Term::kExternal, symbol);
}

Result<Term> RelaxFunctionReader::shape(const ast::Expr& e) {
  RELAXC_TRY(std::vector<arith::Expr> list, dims(*e.items[1]));
  return Term::of(graph_.at(e.place).shape(std::move(list)));
}

Result<Term> RelaxFunctionReader::prim_value(const ast::Expr& e) {
  RELAXC_TRY(Scalar scalar, read(*e.items[1]));
  if (scalar.literal == Scalar::kReal) {
    RELAXC_TRY(scalar.expr, adapt(scalar, DType::f(32), e.place));
  }
  bool dim = scalar.literal == Scalar::kDimLiteral && scalar.expr.dtype() == DType::i(64);
  if (dim) scalar.expr = context_.index(*scalar.expr.constant());
  return Term::of(graph_.at(e.place).prim(scalar.expr));
}

Result<Term> RelaxFunctionReader::tuple(const ast::Expr& e) {
  if (e.items.size() == 1) return Term::of(graph_.at(e.place).tuple({}));
  std::vector<Term> items;
  for (size_t i = 1; i < e.items.size(); ++i) {
    RELAXC_TRY(Term item, eval(*e.items[i]));
    items.push_back(std::move(item));
  }
  return Term::sequence(std::move(items));
}

Result<Term> RelaxFunctionReader::tuple_get_item(const ast::Expr& e) {
  const ast::Keyword* which = e.keyword("index");
  RELAXC_TRY(Term tuple, eval(*e.items[1]));
  RELAXC_TRY(Value * value, as_value(tuple, e.place));
  RELAXC_TRY(arith::Expr position, index(which != nullptr ? *which->value : *e.items[2]));
  if (position.constant() == nullptr) return source_.error(e.place, Kind::invalid_value, "expected a number");
  RELAXC_TRY(Value * part, graph_.at(e.place).tuple_get(value, *position.constant()));
  return Term::of(part);
}

Result<Term> RelaxFunctionReader::shape_of(const ast::Expr& e) {
  RELAXC_TRY(Term operand, eval(*e.items[1]));
  RELAXC_TRY(Value * value, as_value(operand, e.items[1]->place));
  const auto* tensor = value == nullptr ? nullptr : value->info->as<relax::TensorInfo>();
  if (tensor == nullptr) return source_.error(e.items[1]->place, Kind::dtype_mismatch, "R.shape_of wants a tensor");
  const relax::TensorInfo* matched = tensor->shape ? tensor : matched_info(*value);
  if (matched == nullptr) {
    pin(*value);
    matched = value->info->as<relax::TensorInfo>()->shape ? value->info->as<relax::TensorInfo>() : nullptr;
  }
  if (matched != nullptr) return Term::of(graph_.at(e.place).shape(*matched->shape));
  return source_.error(e.place, Kind::shape_mismatch,
                       "the shape of {} is not known here; match_cast or match_shape can give it",
                       relax::to_string(value->info));
}

/// What an earlier match says of a value, here or in a region around.
const relax::TensorInfo* RelaxFunctionReader::matched_info(const Value& value) const {
  for (const relax::Use& use : value.uses()) {
    if (use.user->kind != relax::OpKind::kMatchCast || use.user->block == nullptr) continue;
    const auto* tensor = use.user->result()->info->as<relax::TensorInfo>();
    if (tensor == nullptr || !tensor->shape) continue;
    for (const relax::Region* region = &graph_.region(); region != nullptr;
         region = region->parent_op == nullptr ? nullptr : region->parent_op->block->parent)
      if (region == use.user->block->parent) return tensor;
  }
  return nullptr;
}

Result<Term> RelaxFunctionReader::constant(const ast::Expr& e) {
  const ast::Expr* dtype = e.items.size() > 2 ? e.items[2] : nullptr;
  if (const ast::Keyword* keyword = e.keyword("dtype")) dtype = keyword->value;
  if (e.items.size() < 2 || e.items.size() > 3)
    return source_.error(e.place, Kind::wrong_arity, "R.const takes a value and a dtype");
  std::optional<DType> element;
  if (dtype != nullptr) {
    RELAXC_TRY(element, dtype_value(source_, *dtype));
  }
  std::optional<std::vector<int64_t>> shape;
  if (const ast::Keyword* keyword = e.keyword("shape")) {
    RELAXC_TRY(std::vector<arith::Expr> list, dims(*keyword->value));
    shape.emplace();
    for (arith::Expr dim : list) {
      if (dim.constant() == nullptr || *dim.constant() < 0)
        return source_.error(keyword->value->place, Kind::invalid_value, "a constant's shape is made of numbers");
      shape->push_back(*dim.constant());
    }
  }
  RELAXC_TRY(relax::ConstantRef data, read_constant(source_, *e.items[1], element, shape));
  return Term::of(graph_.at(e.place).constant(std::move(data)));
}

/// R.match_cast(x, info) and R.match_shape(x, dims): symbols that have no value yet get one here.
Result<Term> RelaxFunctionReader::match(const ast::Expr& e, bool shape_only) {
  Diagnostics& diag = source_.diag();
  if (e.items.size() != 3)
    return source_.error(e.place, Kind::wrong_arity, "{} takes a value and {}, found {} arguments",
                         shape_only ? "R.match_shape" : "R.match_cast", shape_only ? "dims" : "a type",
                         e.items.size() - 1);
  Value* value = operand_value(*e.items[1]);
  std::vector<arith::Var> bound;
  auto matched_dims = [&] {
    DimPattern::Reading reading(pattern_, DimPattern::kFresh, &bound);
    return dims(*e.items[2]);
  };
  Result<std::vector<arith::Expr>> list =
      shape_only ? matched_dims() : Result<std::vector<arith::Expr>>(std::vector<arith::Expr>());
  Result<Info> wanted = shape_only ? Result<Info>(Info(nullptr)) : info_by(DimPattern::kDeclared, *e.items[2], bound);
  if (value == nullptr || !list || !wanted) return diag.failed();
  Info type = *wanted;
  if (shape_only) {
    const auto* tensor = value->info->as<relax::TensorInfo>();
    if (tensor == nullptr && value->info->as<relax::ShapeInfo>() == nullptr)
      return source_.error(e.items[1]->place, Kind::dtype_mismatch, "R.match_shape wants a tensor or a shape, found {}",
                           relax::to_string(value->info));
    type = tensor ? relax::tensor_info(context_, *list, tensor->dtype) : relax::shape_info(context_, *list);
  }
  // A guard that is certain to hold is still written down: it is where the symbols come from.
  if (bound.empty() && relax::same(type, value->info)) {
    RELAXC_TRY(Value * again, graph_.at(e.place).match_cast(value, type, {}));
    return Term::of(again);
  }
  RELAXC_TRY(Value * cast, cast_to(value, type, std::move(bound), e.place));
  if (cast != value) return Term::of(cast);
  RELAXC_TRY(Value * checked, graph_.at(e.place).match_cast(value, type, {}));
  return Term::of(checked);
}

/// The value of an expression; null if it was reported.
relax::Value* RelaxFunctionReader::operand_value(const ast::Expr& e) {
  Result<Term> term = eval(e);
  if (!term) return nullptr;
  Result<Value*> value = as_value(*term, e.place);
  if (!value) return nullptr;
  if (*value == nullptr) (void)source_.error(e.place, Kind::invalid_value, "expected a value, found None");
  return *value;
}

Result<relax::Value*> RelaxFunctionReader::number(const Scalar& scalar, DType dtype, Place place) {
  RELAXC_TRY(arith::Expr typed, adapt(scalar, dtype, place));
  if (dtype.is_float()) return graph_.at(place).scalar(dtype, static_cast<const arith::FloatImm*>(typed.node())->value);
  std::vector<std::byte> bytes(static_cast<size_t>(dtype.bytes()));
  int64_t value = *typed.constant();
  std::memcpy(bytes.data(), &value, bytes.size());
  return graph_.at(place).constant(relax::ConstantData::inline_bytes(dtype, {}, std::move(bytes)));
}

Result<relax::Value*> RelaxFunctionReader::as_value(const Term& term, Place place) {
  Diagnostics& diag = source_.diag();
  switch (term.kind) {
    case Term::kPoison:
      return diag.failed();
    case Term::kNone:
      return static_cast<Value*>(nullptr);
    case Term::kValue:
      return term.value;
    case Term::kScalar:
      if (term.scalar.literal == Scalar::kReal) return number(term.scalar, DType::f(32), place);
      if (term.scalar.literal == Scalar::kDimLiteral)
        return graph_.at(place).prim(context_.imm(DType::index(), *term.scalar.expr.constant()));
      return graph_.at(place).prim(term.scalar.expr);
    case Term::kSequence: {
      if (term.is_dims()) {
        RELAXC_TRY(std::vector<arith::Expr> list, dims_of(term, place));
        return graph_.at(place).shape(std::move(list));
      }
      std::vector<Value*> fields;
      for (const Term& item : term.items) {
        RELAXC_TRY(Value * field, as_value(item, place));
        if (field == nullptr) return source_.error(place, Kind::invalid_value, "None cannot stand in a tuple");
        fields.push_back(field);
      }
      return graph_.at(place).tuple(std::move(fields));
    }
    case Term::kString:
      return source_.error(
          place, Kind::dtype_mismatch,
          "a string is no value of the object: an external function takes tensors, shapes, scalars and objects");
    case Term::kModule:
      return source_.error(place, Kind::dtype_mismatch, "expected a value, found the module");
    case Term::kSelf:
      return self_closure(place);
    case Term::kGlobal:
      return global_closure(term.text, {}, place);
    case Term::kExternal:
      break;
  }
  return source_.error(place, Kind::unsupported, "the function '{}' is not a value; call it", term.text);
}

}  // namespace relaxc::frontend
