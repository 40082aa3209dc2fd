// signature.cpp: reads the head of a prim func.
//
// T.match_buffer makes a handle parameter a buffer, which has the handle's position among the parameters. Symbols are
// declared (`n = T.int64()`) and bound where they are bare dims of a matched shape; a name in a shape of the signature
// declares itself.
#include "frontends/relax/prim/signature.h"

#include "compiler/tir/visit.h"
#include "frontends/relax/prim/buffers.h"
#include "frontends/relax/text/literals.h"
#include "frontends/relax/text/name_uses.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

Status read_decorators(PrimParts& fn, const ast::Stmt& definition) {
  for (const ast::Expr* decorator : definition.decorators) {
    if (!decorator->is(AstKind::kCall)) continue;
    for (const ast::Keyword& keyword : decorator->keywords) {
      bool flag = keyword.value->is(AstKind::kTrue);
      if (!flag && !keyword.value->is(AstKind::kFalse))
        return fn.source.error(keyword.value->place, Kind::invalid_attribute, "'{}' is True or False", keyword.name);
      if (keyword.name == "private")
        fn.function.is_private = flag;
      else if (keyword.name != "s_tir" && keyword.name != "check_well_formed") {
        Failure failure =
            fn.source.error(keyword.place, Kind::invalid_attribute, "T.prim_func has no option '{}'", keyword.name);
        suggest(fn.source, keyword.name, {"private", "s_tir", "check_well_formed"});
        return failure;
      }
    }
  }
  return Done{};
}

void declare_type_parameters(PrimParts& fn, const ast::Stmt& definition) {
  for (const ast::Parameter& symbol : definition.type_params) fn.names.declare_symbol(symbol.name, symbol.place);
  if (fn.scope.symbols.empty()) return;
  std::set<std::string> used = names_used(definition.body);
  for (const ast::Parameter& param : definition.params)
    if (param.annotation != nullptr) used.merge(names_used(*param.annotation));
  for (const auto& [name, place] : fn.scope.symbols)
    if (used.count(name) != 0 && fn.names.find(name) == nullptr) fn.names.declare_symbol(name, place);
}

Status read_parameter(PrimParts& fn, const ast::Parameter& param, size_t position) {
  if (fn.names.find(param.name) != nullptr && !fn.names.is_symbol(param.name))
    return fn.source.error(param.place, Kind::redefinition, "two parameters are named '{}'", param.name);
  if (param.annotation == nullptr)
    return fn.source.error(param.place, Kind::ill_formed, "parameter '{}' needs a type, such as T.handle", param.name);
  const ast::Expr& annotation = *param.annotation;
  const ast::Expr& head =
      annotation.is(AstKind::kCall) || annotation.is(AstKind::kSubscript) ? *annotation.items[0] : annotation;
  std::string path = dotted_path(head).value_or("");
  for (std::string_view prefix : {"ty.", "tir."})  // of 2021
    if (path.rfind(prefix, 0) == 0) path = "T." + path.substr(prefix.size());
  if (path == "T.handle" || path == "T.ptr" || path == "T.Ptr") {
    fn.names.bind(param.name, {PrimName::kHandle, {}, nullptr, position}, param.place);
    return Done{};
  }
  if (path == "T.Buffer" || path == "T.buffer") {
    RELAXC_TRY(tir::BufferRef buffer, buffer_annotation(fn, annotation, param.name));
    fn.function.params[position].buffer = buffer;
    fn.names.bind(param.name, {PrimName::kBuffer, {}, buffer}, param.place);
    return Done{};
  }
  std::optional<DType> dtype;
  if (path.rfind("T.", 0) == 0) dtype = parse_dtype(path.substr(2));
  if (path == "int") dtype = DType::i(64);
  if (path == "T.boolean") dtype = DType::boolean();
  if (!dtype)
    return fn.source.error(annotation.place, Kind::ill_formed,
                           "expected T.handle, T.Buffer(shape, dtype) or a scalar type such as T.int64");
  bool integer = *dtype == DType::i(64) || *dtype == DType::i(32);
  if (integer && fn.index_parameters.is_known(param.name)) dtype = DType::index();
  arith::Var var = fn.context().var(param.name, *dtype);
  if (integer && !dtype->is_index()) fn.index_parameters.add_number(var, param.name);
  fn.function.params[position].var = var;
  fn.names.bind(param.name, {PrimName::kScalar, var}, param.place);
  return Done{};
}

/// Returns the order in which to read parameters: first those that occur in dims of earlier ones.
std::vector<size_t> reading_order(const std::vector<ast::Parameter>& params) {
  std::vector<size_t> order, rest;
  std::set<std::string> mentioned;
  for (size_t i = 0; i < params.size(); ++i) {
    (mentioned.count(params[i].name) != 0 ? order : rest).push_back(i);
    if (params[i].annotation != nullptr) mentioned.merge(names_used(*params[i].annotation));
  }
  order.insert(order.end(), rest.begin(), rest.end());
  return order;
}

/// Returns whether a parameter's dims use the symbol; callers then solve for it, as `n * 4` against 12.
bool in_some_shape(PrimParts& fn, arith::Expr symbol) {
  for (const tir::Param& param : fn.function.params) {
    if (param.buffer == nullptr) continue;
    for (arith::Expr dim : param.buffer->shape)
      for (arith::Var var : arith::free_vars(dim))
        if (arith::Expr(var) == symbol) return true;
  }
  return false;
}

/// Returns the variables that the expressions of a body mention.
std::set<uint32_t> mentioned(tir::Stmt body) {
  std::set<uint32_t> ids;
  tir::for_each_stmt(body, [&](tir::Stmt stmt) {
    for (arith::Expr e : tir::expressions(stmt))
      for (arith::Var var : arith::free_vars(e)) ids.insert(var->id);
  });
  return ids;
}

/// Reads the result's type, as in `-> T.int64`.
Status read_result(PrimParts& fn, const ast::Expr* annotation) {
  if (is_none(annotation)) return Done{};
  std::string path = dotted_path(*annotation).value_or("");
  std::optional<DType> dtype = path.rfind("T.", 0) == 0 ? parse_dtype(path.substr(2)) : std::nullopt;
  if (path == "T.void") return Done{};
  if (!dtype)
    return fn.source.error(annotation->place, Kind::ill_formed, "a prim func returns a scalar, such as T.int64");
  RELAXC_DO(result_buffer(fn, *dtype, annotation->place));
  return Done{};
}

}  // namespace

Result<tir::BufferRef> result_buffer(PrimParts& fn, DType dtype, Place place) {
  if (dtype.is_index()) dtype = DType::i(64);
  if (fn.result == nullptr) fn.result = fn.builder.buffer("result", dtype, {fn.context().index(1)});
  if (fn.result->dtype == dtype) return fn.result;
  return fn.source.error(place, Kind::dtype_mismatch, "the function returns {}, found {}", to_string(fn.result->dtype),
                         to_string(dtype));
}

bool read_prim_signature(PrimParts& fn, const ast::Stmt& definition) {
  bool ok = bool(read_decorators(fn, definition));
  declare_type_parameters(fn, definition);
  fn.function.params.resize(definition.params.size());
  for (size_t i : reading_order(definition.params)) {
    const ast::Parameter& param = definition.params[i];
    if (read_parameter(fn, param, i)) continue;
    ok = false;
    fn.names.bind(param.name, {}, param.place);
  }
  return bool(read_result(fn, definition.annotation)) && ok;
}

Status finish_signature(PrimParts& fn, const ast::Stmt& definition, tir::Stmt body) {
  const std::set<uint32_t> used = mentioned(body);
  for (const auto& [name, place] : fn.names.symbols()) {
    auto* symbol = fn.names.find(name);
    if (symbol == nullptr || !symbol->value.unbound || in_some_shape(fn, symbol->value.scalar)) continue;
    // A printed name may only announce the variable of a loop or of a T.Let, which has its value there.
    if (used.count(symbol->value.scalar->id) == 0) continue;
    return fn.source.error(place, Kind::ill_formed, "no buffer's shape holds the symbol '{}', so it has no value",
                           name);
  }
  for (size_t i = 0; i < fn.function.params.size(); ++i) {
    const tir::Param& param = fn.function.params[i];
    if (param.buffer != nullptr || param.var) continue;
    Failure failure =
        fn.source.error(definition.params[i].place, Kind::ill_formed,
                        "no T.match_buffer says what the handle '{}' points to", definition.params[i].name);
    return failure;
  }
  if (fn.result != nullptr) fn.function.params.push_back({fn.result, {}});
  return Done{};
}

}  // namespace relaxc::frontend
