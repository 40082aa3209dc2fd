// dims.cpp: reads the scalar expressions of a Relax function.
#include "frontends/relax/function/dims.h"

#include <algorithm>

#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/special_forms.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/grammar.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

bool is_shape_form(const std::string& path) {
  return path == "R.shape" || path == "R.ShapeExpr";
}

/// Reports a number in place of a shape: in Python, `(n)` is n, not a tuple.
Failure number_for_shape(SourceText& source, Place place) {
  Failure failure = source.error(place, Kind::ill_formed, "expected a shape, found a number");
  source.hint("a shape of one dim is written with a comma: ({},)",
              source.text().substr(place.begin, std::min<uint32_t>(place.length, 40)));
  return failure;
}

}  // namespace

Dims::Dims(FunctionParts& parts) : ScalarReader(parts.scope.module.context(), parts.source), parts_(parts) {}

// ---- names

Result<Scalar> Dims::name(const ast::Expr& e) {
  const DimPattern::OwnSymbols* own_symbols = pattern_.own_symbols();
  if (own_symbols != nullptr)
    if (auto own = own_symbols->find(e.text); own != own_symbols->end()) return Scalar{own->second};
  // In a signature, a quoted name is a symbol of the function itself, not of an outer one.
  bool own = pattern_.quoted() && pattern_.fresh() && own_symbols == nullptr;
  auto* known = own ? parts_.names.find_own(e.text) : parts_.names.find(e.text);
  // In quotes within a type of functions, a name without a value here is a symbol of that type.
  bool valued = known != nullptr &&
                (known->value.kind == Term::kScalar
                     ? !parts_.names.has_no_value(known->value.scalar.expr)
                     : known->value.kind != Term::kValue || known->value.value->info->as<relax::PrimInfo>() != nullptr);
  bool types_own = own_symbols != nullptr && pattern_.quoted() && !valued;
  return known == nullptr || types_own ? new_name(e) : scalar_of(known->value, e);
}

/// Reads a name that is not bound yet: binds a new symbol where the pattern allows it, else reports it.
Result<Scalar> Dims::new_name(const ast::Expr& e) {
  if (pattern_.own_symbols() != nullptr) return Scalar{pattern_.own_symbol(context_, e.text)};
  if (!pattern_.fresh()) return parts_.names.unbound(e, true);
  arith::Var var = context_.var(e.text);
  parts_.names.bind(e.text, Term::of(Scalar{var}), e.place);
  pattern_.bind(var);
  return Scalar{var};
}

/// Returns the meaning of the name `e` as a scalar. Reports names that are no dims.
Result<Scalar> Dims::scalar_of(const Term& term, const ast::Expr& e) {
  if (term.kind == Term::kPoison) return source_.diag().failed();
  if (term.kind == Term::kScalar) {
    if (!parts_.names.has_no_value(term.scalar.expr)) return term.scalar;
    if (pattern_.kind() == DimPattern::kUse)
      return source_.error(e.place, Kind::unbound_name,
                           "the symbol '{}' has no value yet; a match_cast can give it one", e.text);
    parts_.names.give_value(term.scalar.expr);
    pattern_.bind(arith::Var(term.scalar.expr.as<arith::VarNode>()));
    return term.scalar;
  }
  if (term.kind == Term::kValue) {
    const auto* prim = term.value->info->as<relax::PrimInfo>();
    if (prim != nullptr && prim->value) return Scalar{prim->value};
    return source_.error(e.place, Kind::dtype_mismatch, "expected a dim, found '{}', which is {}", e.text,
                         relax::to_string(term.value->info));
  }
  return source_.error(e.place, Kind::dtype_mismatch, "expected a dim, found '{}', which is not one", e.text);
}

/// Reads x.shape[0], x.strides[0] or s[1].
Result<Scalar> Dims::subscript(const ast::Expr& e) {
  RELAXC_TRY(Term term, element(parts_, e));
  if (std::optional<Scalar> scalar = as_scalar(term)) return *scalar;
  return source_.error(e.place, Kind::dtype_mismatch, "expected a dim");
}

/// Reads x.ndim and its relatives.
Result<Scalar> Dims::attribute(const ast::Expr& e) {
  if (!inspects_tensor(e)) return ScalarReader::attribute(e);
  RELAXC_TRY(Term term, inspect_attribute(parts_, e));
  return *as_scalar(term);
}

/// Reads a call that gives a scalar, as R.add(n, 1) and cls.padded(n) do. In a type, where a name may be new, no call
/// is made.
Result<Scalar> Dims::other_call(const ast::Expr& e, const std::string& callee) {
  const std::string path = parts_.names.path_of(*e.items[0]);
  const bool of_scalars = path.rfind("T.", 0) == 0 || path == "max" || path == "min" || path == "float";
  if (pattern_.kind() == DimPattern::kUse && !pattern_.quoted() && !of_scalars) {
    RELAXC_TRY(Term made, eval(parts_, e));
    if (made.kind == Term::kScalar) return made.scalar;
    const auto* prim = made.kind == Term::kValue ? made.value->info->as<relax::PrimInfo>() : nullptr;
    if (prim != nullptr && prim->value) return Scalar{prim->value};
  }
  return source_.error(e.items[0]->place, Kind::invalid_value, "expected a dim, found a call of '{}'", callee);
}

Result<Scalar> Dims::with_parts(const std::function<Result<Scalar>()>& read_parts) {
  Names::Inner names(parts_.names);
  return read_parts();
}

void Dims::name_part(const std::string& name, const Scalar& part, Place place) {
  parts_.names.bind(name, Term::of(part), place);
}

// ---- dims and shapes

/// Parses the expression inside the string `e`; returns null after an error.
const ast::Expr* Dims::quoted(const ast::Expr& e) {
  return parse_quoted(source_, parts_.scope.tree, {e.place.begin + 1, e.place.length - 2});
}

Result<arith::Expr> Dims::dim(const ast::Expr& e) {
  if (!e.is(AstKind::kString)) return index(e);
  const ast::Expr* written = quoted(e);
  if (written == nullptr) return source_.diag().failed();
  if (pattern_.own_symbols() != nullptr && written->is(AstKind::kName))
    (void)pattern_.own_symbol(context_, written->text);
  DimPattern::Quoted quotes(pattern_);
  return index(*written);
}

Result<arith::Expr> Dims::scalar(const ast::Expr& e, DType dtype) {
  if (e.is(AstKind::kString)) {
    const ast::Expr* written = quoted(e);
    if (written == nullptr) return source_.diag().failed();
    if (pattern_.own_symbols() != nullptr && written->is(AstKind::kName))
      (void)pattern_.own_symbol(context_, written->text, dtype);
    DimPattern::Quoted quotes(pattern_);
    return scalar(*written, dtype);
  }
  const DimPattern::OwnSymbols* symbols = pattern_.quoted() ? pattern_.own_symbols() : nullptr;
  bool own = symbols != nullptr && symbols->count(e.text) != 0;
  bool fresh = e.is(AstKind::kName) && pattern_.fresh() && !own && parts_.names.find_own(e.text) == nullptr;
  if (!fresh || dtype.is_index()) return value(e, dtype);
  arith::Var var = context_.var(e.text, dtype);
  parts_.names.bind(e.text, Term::of(Scalar{var}), e.place);
  pattern_.bind(var);
  return var;
}

/// Reads a quoted shape, such as "(n, 4)".
Result<std::vector<arith::Expr>> Dims::quoted_list(const ast::Expr& e) {
  const ast::Expr* written = quoted(e);
  if (written == nullptr) return source_.diag().failed();
  if (written->is_sequence()) {
    DimPattern::Quoted quotes(pattern_);
    return list(*written);
  }
  if (written->is(AstKind::kString))
    return source_.error(e.place, Kind::ill_formed, "expected a shape such as \"(n, 4)\"");
  return number_for_shape(source_, written->place);
}

Result<std::vector<arith::Expr>> Dims::list(const ast::Expr& e) {
  if (e.is(AstKind::kString)) return quoted_list(e);
  if (e.is_sequence()) {
    std::vector<arith::Expr> dims;
    bool ok = true;
    for (const ast::Expr* item : e.items) {
      Result<arith::Expr> read = dim(*item);
      ok = ok && read;
      if (read) dims.push_back(*read);
    }
    if (!ok) return source_.diag().failed();
    return dims;
  }
  if (e.is(AstKind::kCall) && e.items.size() == 2 && is_shape_form(parts_.names.path_of(*e.items[0])))
    return list(*e.items[1]);
  auto* known = e.is(AstKind::kName) ? parts_.names.find(e.text) : nullptr;
  bool number = e.is(AstKind::kInt) || e.is(AstKind::kBinary) ||
                (e.is(AstKind::kName) && known == nullptr && pattern_.fresh()) ||
                (known != nullptr && known->value.kind == Term::kScalar);
  if (number) return number_for_shape(source_, e.place);
  RELAXC_TRY(Term term, eval(parts_, e));
  return list_of(term, e.place);
}

Result<std::vector<arith::Expr>> Dims::list_of(const Term& term, Place place) {
  if (term.kind == Term::kPoison) return source_.diag().failed();
  if (term.is_dims()) {
    std::vector<arith::Expr> dims;
    for (const Term& item : term.items) {
      RELAXC_TRY(arith::Expr value, adapt(item.scalar, DType::index(), place));
      dims.push_back(value);
    }
    return dims;
  }
  if (term.kind == Term::kValue) {
    pin(parts_, *term.value);
    if (const auto* shape = term.value->info->as<relax::ShapeInfo>(); shape && shape->dims) return *shape->dims;
    return source_.error(place, Kind::shape_mismatch, "expected a shape such as (n, 4), found {}",
                         relax::to_string(term.value->info));
  }
  if (term.kind == Term::kScalar) return number_for_shape(source_, place);
  return source_.error(place, Kind::shape_mismatch, "expected a shape such as (n, 4)");
}

}  // namespace relaxc::frontend
