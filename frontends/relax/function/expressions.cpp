// expressions.cpp: reads the expressions of a Relax function: names, tuples, subscripts, infix operators, calls.
#include "frontends/relax/function/expressions.h"

#include <algorithm>

#include "compiler/support/suggest.h"
#include "frontends/relax/function/calls.h"
#include "frontends/relax/function/closures.h"
#include "frontends/relax/function/infos.h"
#include "frontends/relax/function/operators.h"
#include "frontends/relax/function/special_forms.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/literals.h"
#include "frontends/relax/text/unsupported_aot.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Value;

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

/// Limits of a tuple: nesting it in itself repeatedly grows exponentially, and walks over its type are recursive.
constexpr size_t kMostParts = 65536, kDeepestTuple = 200;

struct TermSize {
  size_t parts = 1, depth = 1;
};
TermSize size_of(relax::Info info) {
  TermSize all;
  if (const auto* tuple = info == nullptr ? nullptr : info->as<relax::TupleInfo>())
    for (relax::Info field : tuple->fields) {
      TermSize inner = size_of(field);
      all.parts += inner.parts, all.depth = std::max(all.depth, inner.depth + 1);
    }
  return all;
}

TermSize size_of(const Term& term) {
  if (term.kind == Term::kValue && term.value != nullptr) return size_of(term.value->info);
  TermSize all;
  for (const Term& item : term.items) {
    TermSize inner = size_of(item);
    all.parts += inner.parts, all.depth = std::max(all.depth, inner.depth + 1);
  }
  return all;
}

std::string_view infix_operator(std::string_view text) {
  for (const Infix& infix : kInfix)
    if (infix.text == text) return infix.op;
  return {};
}

Result<Term> name_term(FunctionParts& fn, const ast::Expr& e) {
  if (auto* known = fn.names.find(e.text)) {
    if (known->value.kind == Term::kPoison) return fn.source.diag().failed();
    if (known->value.kind == Term::kScalar && fn.names.has_no_value(known->value.scalar.expr))
      return fn.source.error(e.place, Kind::unbound_name,
                             "the symbol '{}' has no value yet; a match_cast can give it one", e.text);
    return known->value;
  }
  // A class may have a function with the class's own name; it is called through the class.
  if (fn.scope.module_names.count(e.text) != 0) return Term::of(Term::kModule);
  if (fn.scope.globals.count(e.text) != 0) return Term::of(Term::kGlobal, e.text);
  return fn.names.unbound(e, false);
}

Result<Term> sequence(FunctionParts& fn, const ast::Expr& e) {
  std::vector<Term> items;
  bool ok = true;
  for (const ast::Expr* item : e.items) {
    Result<Term> term = eval(fn, *item);
    ok = ok && term;
    items.push_back(term ? *term : Term());
  }
  if (!ok) return fn.source.diag().failed();
  Term made = Term::sequence(std::move(items));
  TermSize size = size_of(made);
  if (size.depth > kDeepestTuple)
    return fn.source.error(e.place, Kind::unsupported, "tuples inside of each other, more than {} deep", kDeepestTuple);
  if (size.parts > kMostParts)
    return fn.source.error(e.place, Kind::unsupported, "a tuple of more than {} parts, nested ones included",
                           kMostParts);
  return made;
}

/// Reads cls.f, x.shape or x.struct_info.shape.
Result<Term> attribute(FunctionParts& fn, const ast::Expr& e) {
  std::string path = fn.names.path_of(e);
  if (path.rfind("R.", 0) == 0 || path.rfind("T.", 0) == 0)
    return fn.source.error(e.place, Kind::invalid_value, "'{}' is a function; call it", path);
  if (inspects_tensor(e)) return inspect_attribute(fn, e);
  RELAXC_TRY(Term base, eval(fn, e.text == "shape" ? without_type(*e.items[0]) : *e.items[0]));
  if (base.kind == Term::kModule) {
    if (fn.scope.globals.count(e.text) != 0) return Term::of(Term::kGlobal, e.text);
    if (auto named = fn.scope.externals.find(e.text); named != fn.scope.externals.end())
      return Term::of(Term::kExternal, named->second);
    Failure failure = fn.source.error(e.place, Kind::unbound_name, "the module has no function '{}'", e.text);
    if (auto near = nearest_name(e.text, fn.scope.global_names())) fn.source.hint("did you mean '{}'?", *near);
    return failure;
  }
  if (base.kind == Term::kValue && e.text == "shape") {
    pin(fn, *base.value);
    if (const auto* tensor = base.value->info->as<relax::TensorInfo>(); tensor && tensor->shape)
      return Term::of_dims(*tensor->shape);
    return fn.source.error(e.place, Kind::shape_mismatch, "the shape of {} is not known here; match_cast can give it",
                           relax::to_string(base.value->info));
  }
  Failure failure = fn.source.error(e.place, Kind::unsupported, "'{}' has no meaning here", e.text);
  if (base.kind == Term::kValue && nearest_name(e.text, {"shape"})) fn.source.hint("did you mean 'shape'?");
  return failure;
}

Result<Term> infix(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  bool unary = e.is(AstKind::kUnary);
  Result<Term> a = eval(fn, *e.items[0]);
  Result<Term> b = unary ? Result<Term>(Term::of(Term::kNone)) : eval(fn, *e.items[1]);
  if (!a || !b) return diag.failed();
  auto has_dims = [](const Term& term) {
    return term.kind == Term::kValue && term.value->info->as<relax::PrimInfo>() &&
           term.value->info->as<relax::PrimInfo>()->value;
  };
  bool scalars = (a->kind == Term::kScalar || has_dims(*a)) && (unary || b->kind == Term::kScalar || has_dims(*b));
  if (scalars) {
    RELAXC_TRY(Scalar scalar, fn.dims.read(e));
    return Term::of(scalar);
  }
  if (unary) {
    std::string_view op = e.text == "-"     ? "negative"
                          : e.text == "not" ? "logical_not"
                          : e.text == "~"   ? "bitwise_not"
                                            : "";
    if (op.empty()) return *a;
    RELAXC_TRY(const relax::OpDef* def, find_operator(fn, std::string(op), e.place));
    return apply(fn, *def, {{*a, e.items[0]->place}}, {}, e.place);
  }
  RELAXC_TRY(const relax::OpDef* def, find_operator(fn, std::string(infix_operator(e.text)), e.place));
  return apply(fn, *def, {{*a, e.items[0]->place}, {*b, e.items[1]->place}}, {}, e.place);
}

Result<Term> call_expression(FunctionParts& fn, const ast::Expr& e) {
  std::string path = fn.names.path_of(*e.items[0]);
  if (const Dialect* dialect = fn.scope.dialect; dialect != nullptr && path.starts_with(dialect->root))
    return dialect->read(fn, path.substr(dialect->root.size()), e);
  bool known = false;
  Result<Term> made = transparent_form(fn, path, e, known);
  if (!known) made = special_form(fn, path, e, known);
  if (known) return made;
  if (is_type(fn, e))
    return fn.source.error(e.place, Kind::invalid_value, "'{}' is a type, and a value is expected here", path);
  if (std::string_view why = why_unsupported_aot(path); !why.empty())
    return fn.source.error(e.items[0]->place, Kind::unsupported, "'{}' {}", path, why);
  if (is_python_function(path) && fn.scope.globals.count(path) == 0)
    return fn.source.error(e.items[0]->place, Kind::unsupported,
                           "'{}' is a function of Python, which computes while a module is built", path);
  if (path.rfind("R.", 0) == 0) return operator_call(fn, path.substr(2), e);
  if (path.rfind("T.", 0) == 0 || path == "max" || path == "min") {
    RELAXC_TRY(Scalar scalar, fn.dims.read(e));
    return Term::of(scalar);
  }
  if (path == "float" && e.items.size() == 2) {
    RELAXC_TRY(Scalar scalar, fn.dims.read(e));
    return Term::of(Scalar{scalar.expr, Scalar::kReal});
  }
  if (e.items[0]->is(AstKind::kAttribute) && e.items[0]->text == "astype" && e.items.size() == 2) {
    RELAXC_TRY(Term operand, eval(fn, *e.items[0]->items[0]));
    RELAXC_TRY(const relax::OpDef* def, find_operator(fn, "astype", e.place));
    RELAXC_TRY(DType dtype, dtype_value(fn.source, *e.items[1]));
    return apply(fn, *def, {{operand, e.place}}, {{"dtype", dtype}}, e.place);
  }
  // add(x, x), as written by programs that import the operators' names
  bool named = e.items[0]->is(AstKind::kName) && fn.names.find(path) == nullptr && fn.scope.globals.count(path) == 0;
  if (named && fn.scope.table.find(path) != nullptr) return operator_call(fn, path, e);
  // f[n](x) gives f's symbols in brackets.
  bool symbols = e.items[0]->is(AstKind::kSubscript) && e.items[0]->items[0]->is(AstKind::kAttribute);
  if (e.items[0]->is(AstKind::kSubscript) && e.items[0]->items[0]->is(AstKind::kName))
    symbols = fn.names.find(e.items[0]->items[0]->text) == nullptr;
  RELAXC_TRY(Term function, eval(fn, symbols ? *e.items[0]->items[0] : *e.items[0]));
  if (function.kind == Term::kGlobal) return call_global(fn, function.text, e);
  if (function.kind == Term::kSelf || function.kind == Term::kValue) return call_value(fn, function, e);
  if (function.kind == Term::kExternal)
    return fn.source.error(e.items[0]->place, Kind::unsupported,
                           "nothing says what '{0}' gives; call it by R.call_pure_packed(\"{0}\", …, ty_args=…)",
                           function.text);
  return fn.source.error(e.items[0]->place, Kind::invalid_value, "this is not a function");
}

/// Returns the constant metadata["relax.expr.Constant"][number].
Result<Term> metadata_constant(FunctionParts& fn, int64_t number, Place place) {
  ModuleScope& scope = fn.scope;
  auto found = scope.constants.find(number);
  if (found != scope.constants.end()) return Term::of(fn.graph.at(place).constant(found->second));
  if (scope.bad_metadata) return fn.diag().failed();
  if (scope.has_metadata || !scope.constants.empty())
    return fn.source.error(place, Kind::missing_data, "there is no constant {}; the metadata has {} constants", number,
                           scope.constants.size());
  Failure failure = fn.source.error(place, Kind::missing_data, "constant {} is not in the text", number);
  fn.source.hint("print the module with {}, or name a file that has it with --params",
                 scope.dialect != nullptr ? scope.dialect->metadata : "show_meta=True");
  return failure;
}

/// Returns one element of a tuple or a shape; negative positions count from the end.
Result<Term> part_of(FunctionParts& fn, const ast::Expr& e, int64_t position) {
  const ast::Expr& base = *e.items[0];
  RELAXC_TRY(Term term, eval(fn, base));
  if (term.kind == Term::kValue) pin(fn, *term.value);
  if (term.kind == Term::kValue)
    if (const auto* shape = term.value->info->as<relax::ShapeInfo>(); shape && shape->dims)
      term = Term::of_dims(*shape->dims);
  if (term.kind == Term::kSequence) {
    int64_t size = static_cast<int64_t>(term.items.size());
    if (position < -size || position >= size)
      return fn.source.error(e.items[1]->place, Kind::invalid_value, "index {} of a tuple of {}", position, size);
    return term.items[static_cast<size_t>(position < 0 ? position + size : position)];
  }
  if (term.kind != Term::kValue) return fn.source.error(base.place, Kind::dtype_mismatch, "only a tuple has parts");
  RELAXC_TRY(Value * part, fn.graph.at(e.place).tuple_get(term.value, position));
  return Term::of(part);
}

}  // namespace

std::string_view infix_text(std::string_view op) {
  for (const Infix& infix : kInfix)
    if (infix.op == op) return infix.text;
  return {};
}

Result<Term> eval(FunctionParts& fn, const ast::Expr& e) {
  switch (e.kind) {
    case AstKind::kName:
      return name_term(fn, e);
    case AstKind::kInt:
    case AstKind::kFloat:
    case AstKind::kTrue:
    case AstKind::kFalse: {
      RELAXC_TRY(Scalar scalar, fn.dims.read(e));
      return Term::of(scalar);
    }
    case AstKind::kString:
      return Term::of(Term::kString, e.text);
    case AstKind::kNone:
      return Term::of(Term::kNone);
    case AstKind::kTuple:
    case AstKind::kList:
      return sequence(fn, e);
    case AstKind::kAttribute:
      return attribute(fn, e);
    case AstKind::kSubscript:
      return element(fn, e);
    case AstKind::kUnary:
    case AstKind::kBinary:
    case AstKind::kCompare:
    case AstKind::kBoolOp:
      return infix(fn, e);
    case AstKind::kCall:
      return call_expression(fn, e);
    case AstKind::kIfElse:
      return fn.source.error(e.place, Kind::unsupported,
                             "'a if c else b' is not allowed in a Relax function; an 'if' statement binds one name in "
                             "both branches");
    default:
      break;
  }
  return fn.source.error(e.place, Kind::unsupported, "{} is not allowed in a Relax function", describe(e));
}

Result<Term> element(FunctionParts& fn, const ast::Expr& e) {
  const ast::Expr& base = *e.items[0];
  if (e.items.size() != 2 || e.items[1]->is(AstKind::kSlice)) {
    Failure failure = fn.source.error(e.place, Kind::unsupported, "a subscript takes one part of a tuple or a shape");
    fn.source.hint("R.strided_slice and R.take read parts of a tensor");
    return failure;
  }
  if (inspects_tensor(e)) return inspect_attribute(fn, e);
  RELAXC_TRY(arith::Expr position, fn.dims.index(*e.items[1]));
  if (position.constant() == nullptr)
    return fn.source.error(e.items[1]->place, Kind::invalid_value, "a subscript of a tuple is a number");
  bool metadata = base.is(AstKind::kSubscript) && fn.names.path_of(*base.items[0]) == "metadata";
  return metadata ? metadata_constant(fn, *position.constant(), e.place) : part_of(fn, e, *position.constant());
}

}  // namespace relaxc::frontend
