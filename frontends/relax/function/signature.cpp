// signature.cpp: reads the head of a Relax function.
//
// Symbols belong to the function: quoted or bare in the signature, declared (`n = T.int64()`), or bound by a match in
// the body. A declared symbol of a name in the signature is the signature's.
#include "frontends/relax/function/signature.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>

#include "frontends/relax/function/infos.h"
#include "frontends/relax/text/literals.h"
#include "frontends/relax/text/name_uses.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

namespace {

/// Calls `f` for every expression of `info` that may be a symbol on its own.
void for_each_dim(relax::Info info, const std::function<void(arith::Expr, bool tensor)>& f) {
  if (const auto* tensor = info->as<relax::TensorInfo>(); tensor && tensor->shape)
    for (arith::Expr dim : *tensor->shape) f(dim, true);
  if (const auto* shape = info->as<relax::ShapeInfo>(); shape && shape->dims)
    for (arith::Expr dim : *shape->dims) f(dim, false);
  if (const auto* prim = info->as<relax::PrimInfo>(); prim && prim->value) f(prim->value, false);
  if (const auto* tuple = info->as<relax::TupleInfo>())
    for (relax::Info field : tuple->fields) for_each_dim(field, f);
}

Status read_decorators(FunctionParts& fn) {
  for (const ast::Expr* decorator : fn.definition.decorators) {
    if (!decorator->is(AstKind::kCall)) continue;
    for (const ast::Keyword& keyword : decorator->keywords) {
      bool flag = keyword.value->is(AstKind::kTrue);
      if (keyword.name == "private")
        fn.function.is_private = flag;
      else if (keyword.name != "pure" && keyword.name != "check_well_formed") {
        Failure failure =
            fn.source.error(keyword.place, Kind::invalid_attribute, "R.function has no option '{}'", keyword.name);
        suggest(fn.source, keyword.name, {"private", "pure", "check_well_formed"});
        return failure;
      }
    }
  }
  return Done{};
}

void declare_type_parameters(FunctionParts& fn) {
  for (const ast::Parameter& symbol : fn.definition.type_params)
    fn.names.bind(symbol.name, Term::of(Scalar{fn.context().var(symbol.name)}), symbol.place);
  if (fn.scope.symbols.empty()) return;
  for (const ast::Parameter& param : fn.definition.params) {
    if (param.annotation == nullptr) continue;
    std::set<std::string> used = names_used(*param.annotation);
    for (const auto& [name, place] : fn.scope.symbols)
      if (used.count(name) != 0 && fn.names.find_own(name) == nullptr)
        fn.names.bind(name, Term::of(Scalar{fn.context().var(name)}), place);
  }
}

/// Returns the type with a symbol as the value of each scalar, so that an integer can be a dim.
relax::Info with_symbols(FunctionParts& fn, Info info, const std::string& name) {
  if (const auto* prim = info->as<relax::PrimInfo>(); prim != nullptr && !prim->value)
    return relax::prim_info(fn.context(), prim->dtype, fn.context().var(name, prim->dtype));
  if (const auto* tuple = info->as<relax::TupleInfo>()) {
    std::vector<Info> fields = tuple->fields;
    for (size_t i = 0; i < fields.size(); ++i) fields[i] = with_symbols(fn, fields[i], name + "_" + std::to_string(i));
    return relax::tuple_info(fn.context(), std::move(fields));
  }
  return info;
}

/// \param names  of the earlier parameters
Status read_parameter(FunctionParts& fn, const ast::Parameter& param, std::set<std::string>& names) {
  if (names.count(param.name) != 0)
    return fn.source.error(param.place, Kind::redefinition, "two parameters are named '{}'", param.name);
  if (param.annotation == nullptr)
    return fn.source.error(param.place, Kind::ill_formed,
                           "parameter '{}' needs a type, such as R.Tensor((\"n\", 4), \"float32\")", param.name);
  RELAXC_TRY(Info type, read_info(fn, *param.annotation));
  type = with_symbols(fn, type, param.name);
  Value* value = fn.function.make_argument(&fn.function.body(), param.name, type);
  fn.names.bind(param.name, Term::of(value), param.place);
  names.insert(param.name);
  return Done{};
}

Status collect_symbols(FunctionParts& fn) {
  std::vector<arith::Var>& symbols = fn.function.symbols;
  std::unordered_set<arith::Expr> known(symbols.begin(), symbols.end());
  for (Value* param : fn.function.body().arguments)
    for_each_dim(param->info, [&](arith::Expr dim, bool tensor) {
      const auto* var = dim.as<arith::VarNode>();
      if (var == nullptr) return;
      if (known.insert(dim).second) symbols.push_back(arith::Var(var));
      if (tensor) fn.function.facts.bound(arith::Var(var), arith::Range::at_least(0));
    });
  for (size_t i = 0; i < fn.definition.params.size(); ++i)
    for (arith::Var var : relax::symbols_of(fn.function.body().arguments[i]->info))
      if (known.count(var) == 0 && (fn.captures == nullptr || !fn.captures->shares(var))) {
        Failure failure =
            fn.source.error(fn.definition.params[i].place, Kind::ill_formed,
                            "no parameter has the symbol '{}' alone as a dim, so it has no value", var.name());
        fn.source.hint("a parameter R.Shape([\"{}\"]) or a tensor with that dim gives it one", var.name());
        return failure;
      }
  return Done{};
}

}  // namespace

bool read_signature(FunctionParts& fn) {
  const ast::Stmt& definition = fn.definition;
  fn.function.location = fn.source.at(definition.name_place);
  bool ok = bool(read_decorators(fn));
  declare_type_parameters(fn);
  std::set<std::string> names;
  for (const ast::Parameter& param : definition.params) {
    DimPattern::Reading reading(fn.dims.pattern(), DimPattern::kFresh);
    if (read_parameter(fn, param, names)) continue;
    ok = false;
    fn.names.bind(param.name, {}, param.place);
    fn.names.poison_mentioned(param.annotation);
  }
  if (definition.annotation != nullptr) {
    Result<Info> result = read_info(fn, *definition.annotation);
    ok = ok && result;
    if (result) fn.results.declare(*result);
  }
  return ok && collect_symbols(fn);
}

void declare_module_symbols(FunctionParts& fn) {
  if (fn.scope.symbols.empty()) return;
  std::set<std::string> used = names_used(fn.definition.body);
  for (const auto& [name, place] : fn.scope.symbols)
    if (used.count(name) != 0 && fn.names.find(name) == nullptr) fn.names.declare_symbol(name, DType::index(), place);
}

}  // namespace relaxc::frontend
