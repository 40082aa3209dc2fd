// relax_function.cpp: signature, symbols and names of a Relax function.
//
// Symbols belong to the function: quoted or bare in the signature, declared (`n = T.int64()`), or bound by a match in
// the body. A declared symbol that the signature knows is that one. One that nothing has bound yet may only stand where
// binding happens.
#include "frontends/relax/relax_function.h"

#include <algorithm>

#include "compiler/relax/callable.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/name_uses.h"
#include "frontends/relax/suggest.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

constexpr size_t kMostOpenBodies = 64;

/// Calls `f` for every expression in which a symbol of `info` could stand alone.
void for_each_dim(relax::Info info, const std::function<void(arith::Expr, bool tensor)>& f) {
  if (const auto* tensor = info->as<relax::TensorInfo>(); tensor && tensor->shape)
    for (arith::Expr dim : *tensor->shape) f(dim, true);
  if (const auto* shape = info->as<relax::ShapeInfo>(); shape && shape->dims)
    for (arith::Expr dim : *shape->dims) f(dim, false);
  if (const auto* prim = info->as<relax::PrimInfo>(); prim && prim->value) f(prim->value, false);
  if (const auto* tuple = info->as<relax::TupleInfo>())
    for (relax::Info field : tuple->fields) for_each_dim(field, f);
}

}  // namespace

bool RelaxFunctionReader::signature() {
  function_.location = source_.at(definition_.name_place);
  bool ok = bool(decorators()) & bool(type_parameters());
  for (const ast::Parameter& param : definition_.params) {
    DimPattern::Reading reading(pattern_, DimPattern::kFresh);
    if (parameter(param)) continue;
    ok = false;
    names_.bind(param.name, {}, param.place);
    poison_names(param.annotation);
  }
  if (definition_.annotation != nullptr) {
    Result<Info> result = info(*definition_.annotation);
    ok = ok && result;
    if (result) {
      const auto* tuple = (*result)->as<relax::TupleInfo>();
      declared_ = tuple != nullptr && tuple->fields.size() != 1 ? tuple->fields : std::vector<Info>{*result};
      has_declared_ = (*result)->kind != relax::InfoKind::kObject;
    }
  }
  ok = ok && collect_symbols();
  signature_ok_ = ok;
  return ok;
}

/// The symbols that a refused annotation would have made: using them is no mistake of its own.
void RelaxFunctionReader::poison_names(const ast::Expr* annotation) {
  if (annotation == nullptr) return;
  std::set<std::string> names = names_used(*annotation);
  for (const std::string& name : names)
    if (names_.find(name) == nullptr && name != "R" && name != "T") names_.bind(name, {}, annotation->place);
}

Status RelaxFunctionReader::decorators() {
  for (const ast::Expr* decorator : definition_.decorators) {
    if (!decorator->is(AstKind::kCall)) continue;
    for (const ast::Keyword& keyword : decorator->keywords) {
      bool flag = keyword.value->is(AstKind::kTrue);
      if (keyword.name == "private")
        function_.is_private = flag;
      else if (keyword.name != "pure" && keyword.name != "check_well_formed")
        return source_.error(keyword.place, Kind::invalid_attribute, "R.function has no option '{}'", keyword.name);
    }
  }
  return Done{};
}

Status RelaxFunctionReader::type_parameters() {
  for (const ast::Parameter& symbol : definition_.type_params)
    names_.bind(symbol.name, Term::of(Scalar{context_.var(symbol.name)}), symbol.place);
  if (scope_.symbols.empty()) return Done{};
  for (const ast::Parameter& param : definition_.params) {
    if (param.annotation == nullptr) continue;
    std::set<std::string> used = names_used(*param.annotation);
    for (const auto& [name, place] : scope_.symbols)
      if (used.count(name) != 0 && names_.find(name) == nullptr)
        names_.bind(name, Term::of(Scalar{context_.var(name)}), place);
  }
  return Done{};
}

/// Symbols of the module that the signature does not mention are declared as in the first line.
void RelaxFunctionReader::declare_module_symbols() {
  if (scope_.symbols.empty()) return;
  std::set<std::string> used = names_used(definition_.body);
  for (const auto& [name, place] : scope_.symbols)
    if (used.count(name) != 0 && find(name) == nullptr) declare_symbol(name, DType::index(), place);
}

Status RelaxFunctionReader::parameter(const ast::Parameter& param) {
  for (Value* earlier : function_.body().arguments)
    if (earlier->name == param.name)
      return source_.error(param.place, Kind::redefinition, "two parameters are named '{}'", param.name);
  if (param.annotation == nullptr)
    return source_.error(param.place, Kind::ill_formed,
                         "parameter '{}' needs a type, such as R.Tensor((\"n\", 4), \"float32\")", param.name);
  RELAXC_TRY(Info type, info(*param.annotation));
  type = with_symbols(type, param.name);
  Value* value = function_.make_argument(&function_.body(), param.name, type);
  names_.bind(param.name, Term::of(value), param.place);
  return Done{};
}

/// A scalar is a symbol too, and an integer may be a dim; so are the elements of a shape.
relax::Info RelaxFunctionReader::with_symbols(Info info, const std::string& name) {
  if (const auto* prim = info->as<relax::PrimInfo>(); prim != nullptr && !prim->value)
    return relax::prim_info(context_, prim->dtype, context_.var(name, prim->dtype));
  if (const auto* tuple = info->as<relax::TupleInfo>()) {
    std::vector<Info> fields = tuple->fields;
    for (size_t i = 0; i < fields.size(); ++i) fields[i] = with_symbols(fields[i], name + "_" + std::to_string(i));
    return relax::tuple_info(context_, std::move(fields));
  }
  return info;
}

/// A parameter of which the rank is known has dims, whatever they are called: they get names where one is wanted.
void RelaxFunctionReader::pin(Value& value) {
  if (value.region != &function_.body()) return;
  const auto* tensor = value.info->as<relax::TensorInfo>();
  const auto* shape = value.info->as<relax::ShapeInfo>();
  bool open = (tensor && tensor->ndim >= 0 && !tensor->shape) || (shape && shape->ndim >= 0 && !shape->dims);
  if (!open) return;
  std::vector<arith::Expr> dims;
  int32_t ndim = tensor != nullptr ? tensor->ndim : shape->ndim;
  for (int32_t i = 0; i < ndim; ++i) {
    arith::Var var = context_.var(value.name + "_" + std::to_string(i));
    function_.symbols.push_back(var);
    if (tensor != nullptr) function_.facts.bound(var, arith::Range::at_least(0));
    dims.push_back(var);
  }
  value.info = tensor != nullptr ? relax::tensor_info(context_, std::move(dims), tensor->dtype)
                                 : relax::shape_info(context_, std::move(dims));
}

Status RelaxFunctionReader::collect_symbols() {
  std::vector<arith::Var>& symbols = function_.symbols;
  auto known = [&](arith::Expr e) {
    return std::any_of(symbols.begin(), symbols.end(), [&](arith::Var v) { return v == e; });
  };
  for (Value* param : function_.body().arguments)
    for_each_dim(param->info, [&](arith::Expr dim, bool tensor) {
      const auto* var = dim.as<arith::VarNode>();
      if (var == nullptr) return;
      if (!known(dim)) symbols.push_back(arith::Var(var));
      if (tensor) function_.facts.bound(arith::Var(var), arith::Range::at_least(0));
    });
  for (size_t i = 0; i < definition_.params.size(); ++i)
    for (arith::Var var : relax::symbols_of(function_.body().arguments[i]->info))
      if (!known(var) && std::find(outer_symbols_.begin(), outer_symbols_.end(), var) == outer_symbols_.end()) {
        Failure failure =
            source_.error(definition_.params[i].place, Kind::ill_formed,
                          "no parameter has the symbol '{}' alone as a dim, so it has no value", var.name());
        source_.hint("a parameter R.Shape([\"{}\"]) or a tensor with that dim gives it one", var.name());
        return failure;
      }
  return Done{};
}

bool RelaxFunctionReader::body() {
  if (state_ == State::kDone) return true;
  if (state_ != State::kNew) return false;
  state_ = State::kRunning;
  ++scope_.open_bodies;
  std::vector<Value*> returned;
  return_into_ = &returned;
  declare_module_symbols();
  bool ok = bool(suite(definition_.body));
  bool nothing = definition_.annotation != nullptr && definition_.annotation->is(AstKind::kNone);
  if (ok && !returned_ && !nothing) {
    (void)source_.error(definition_.name_place, Kind::ill_formed, "'{}' returns nothing", definition_.text);
    ok = false;
  }
  ok = ok && signature_ok_ && check_results(returned, definition_.name_place) && ranks_are_known() &&
       check_open_results();
  if (ok)
    for (Value* value : returned) function_.body().yield->add_operand(value);
  return_into_ = nullptr;
  --scope_.open_bodies;
  state_ = ok ? State::kDone : State::kFailed;
  return ok;
}

/// The declared results hold: what is deduced is at least as precise, or is cast with a guard.
Status RelaxFunctionReader::check_results(std::vector<Value*>& values, Place place) {
  if (!has_declared_) return Done{};
  if (declared_.size() != values.size())
    return source_.error(place, Kind::wrong_arity, "'{}' declares {} results and returns {}", definition_.text,
                         declared_.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    RELAXC_TRY(values[i], cast_to(values[i], declared_[i], {}, place));
  }
  return Done{};
}

Result<std::vector<relax::Info>> RelaxFunctionReader::results(Place call) {
  // The body says more than the annotation, but a chain of functions must not become a chain of stack frames.
  if (state_ == State::kNew && scope_.open_bodies < kMostOpenBodies) (void)body();
  if (state_ == State::kNew && !has_declared_)
    return source_.error(call, Kind::unsupported,
                         "'{}' must declare what it returns: more than {} functions call each other", definition_.text,
                         kMostOpenBodies);
  if (state_ == State::kFailed || !signature_ok_) return source_.diag().failed();
  std::vector<Info> infos;
  if (state_ == State::kDone) {
    for (Value* value : function_.body().results()) infos.push_back(value->info);
    return infos;
  }
  if (has_declared_) {
    for (Info declared : declared_) infos.push_back(relax::with_named_dims(context_, declared));
    return infos;
  }
  return source_.error(call, Kind::ill_formed, "'{}' calls itself, so it must declare what it returns",
                       definition_.text);
}

Failure RelaxFunctionReader::unbound(const ast::Expr& e, bool dims) {
  Failure failure = source_.error(e.place, Kind::unbound_name, "the name '{}' is not bound", e.text);
  if (source_.suppressed()) return failure;
  if (auto inside = hidden_.find(e.text); inside != hidden_.end()) {
    source_.note(inside->second.place, "{}", inside->second.way_out);
    return failure;
  }
  auto wanted = [&](const Term& term) {
    if (term.kind == Term::kPoison) return false;
    bool scalar = term.kind == Term::kScalar || (term.kind == Term::kValue && term.value->info->as<relax::PrimInfo>());
    return !dims || scalar;
  };
  std::vector<std::string> names = names_.names(wanted);
  if (!dims)
    for (std::string& global : scope_.global_names()) names.push_back(std::move(global));
  if (auto near = nearest_name(e.text, names)) source_.hint("did you mean '{}'?", *near);
  return failure;
}

Result<Scalar> RelaxFunctionReader::name(const ast::Expr& e) {
  const DimPattern::OwnSymbols* own_symbols = pattern_.own_symbols();
  if (own_symbols != nullptr)
    if (auto own = own_symbols->find(e.text); own != own_symbols->end()) return Scalar{own->second};
  // What stands in quotes in a signature is a symbol of the function's own.
  bool own = pattern_.quoted() && pattern_.fresh() && own_symbols == nullptr;
  auto* known = own ? names_.find(e.text) : find(e.text);
  // In the quotes of a type of functions, what has no value here is the type's own.
  bool valued = known != nullptr &&
                (known->value.kind == Term::kScalar
                     ? unbound_.count(known->value.scalar.expr) == 0
                     : known->value.kind != Term::kValue || known->value.value->info->as<relax::PrimInfo>() != nullptr);
  if (known == nullptr || (own_symbols != nullptr && pattern_.quoted() && !valued)) {
    if (own_symbols != nullptr) return Scalar{pattern_.own_symbol(context_, e.text)};
    if (!pattern_.fresh()) return unbound(e, true);
    arith::Var var = context_.var(e.text);
    names_.bind(e.text, Term::of(Scalar{var}), e.place);
    pattern_.bind(var);
    return Scalar{var};
  }
  const Term& term = known->value;
  if (term.kind == Term::kPoison) return source_.diag().failed();
  if (term.kind == Term::kScalar) {
    if (unbound_.count(term.scalar.expr) == 0) return term.scalar;
    if (pattern_.kind() == DimPattern::kUse)
      return source_.error(e.place, Kind::unbound_name,
                           "the symbol '{}' has no value yet; a match_cast can give it one", e.text);
    unbound_.erase(term.scalar.expr);
    pattern_.bind(arith::Var(term.scalar.expr.as<arith::VarNode>()));
    return term.scalar;
  }
  if (term.kind == Term::kValue) {
    const auto* prim = term.value->info->as<relax::PrimInfo>();
    if (prim != nullptr && prim->value) return Scalar{prim->value};
    return source_.error(e.place, Kind::dtype_mismatch, "expected a dim, found '{}', which is {}", e.text,
                         relax::to_string(term.value->info));
  }
  return source_.error(e.place, Kind::dtype_mismatch, "expected a dim, found '{}', which is none", e.text);
}

/// x.shape[0], s[1]
Result<Scalar> RelaxFunctionReader::subscript(const ast::Expr& e) {
  RELAXC_TRY(Term term, element(e));
  if (term.kind == Term::kScalar) return term.scalar;
  return source_.error(e.place, Kind::dtype_mismatch, "expected a dim");
}

Result<Scalar> RelaxFunctionReader::other_call(const ast::Expr& e, const std::string& callee) {
  return source_.error(e.items[0]->place, Kind::invalid_value, "expected a dim, found a call of '{}'", callee);
}

void RelaxFunctionReader::name_part(const std::string& name, const Scalar& part, Place place) {
  names_.bind(name, Term::of(part), place);
}

void RelaxFunctionReader::bind(const ast::Expr& target, Term term) {
  if (!target.is(AstKind::kName)) return;
  if (term.kind == Term::kValue && term.value->name.empty()) term.value->name = target.text;
  if (assigned_ != nullptr) assigned_->push_back(target.text);
  hidden_.erase(target.text);
  names_.bind(target.text, std::move(term), target.place);
}

void RelaxFunctionReader::poison(const ast::Expr* target) {
  if (target == nullptr) return;
  if (target->is_sequence())
    for (const ast::Expr* item : target->items) poison(item);
  else if (target->is(AstKind::kName) && names_.find(target->text) == nullptr)
    bind(*target, {});
  else if (target->is(AstKind::kName))
    names_.bind(target->text, {}, target->place);
}

arith::Var RelaxFunctionReader::declare_symbol(const std::string& name, DType dtype, Place place) {
  arith::Var var = context_.var(name, dtype);
  unbound_.insert(var);
  names_.bind(name, Term::of(Scalar{var}), place);
  return var;
}

std::string RelaxFunctionReader::path_of(const ast::Expr& e) {
  std::optional<std::string> path = dotted_path(e);
  if (!path) return {};
  return shadowed(path->substr(0, path->find('.'))) ? std::string() : *path;
}

}  // namespace relaxc::frontend
