// reader.cpp: reads a prim func, signature first, and again as long as its body shows parameters to be extents
// (index_parameters.h).
#include "frontends/relax/prim/reader.h"

#include <algorithm>

#include "frontends/relax/prim/signature.h"
#include "frontends/relax/prim/statements.h"
#include "frontends/relax/text/call_text.h"

namespace relaxc::frontend {

namespace {

/// Returns whether TVM's MakePackedAPI has lowered the prim func: its parameters are an array of arguments and their
/// number, and an attribute names the calling convention.
bool is_packed_api(const ast::Stmt& definition) {
  auto named = [&](std::string_view name) {
    return std::any_of(definition.params.begin(), definition.params.end(),
                       [&](const ast::Parameter& param) { return param.name == name; });
  };
  if (!named("args") || !named("num_args")) return false;
  for (const ast::Stmt* stmt : definition.body) {
    if (stmt->kind != ast::StmtKind::kExpr || callee_of(stmt->value) != "T.func_attr") continue;
    for (const ast::Expr* dict : stmt->value->items)
      for (const ast::Expr* item : dict->items)
        if (item->is(ast::ExprKind::kString) && item->text == "calling_conv") return true;
  }
  return false;
}

/// Reads the prim func, or its head alone if that shows further parameters to be extents, which are to be read anew.
Result<tir::PrimFunc> read_once(PrimParts& fn, const ast::Stmt& definition) {
  fn.function.name = definition.text;
  fn.function.location = fn.source.at(definition.name_place);
  fn.function.origins = {fn.function.location};
  fn.function.is_private = false;
  bool ok = read_prim_signature(fn, definition);
  if (ok && !fn.index_parameters.used().empty()) return std::move(fn.function);
  Result<tir::Stmt> body = prim_suite(fn, definition.body);
  ok = ok && body && finish_signature(fn, definition, *body);
  if (!ok) return fn.diag().failed();
  fn.function.body = *body;
  tir::collect_symbols(fn.function);
  return std::move(fn.function);
}

}  // namespace

Result<tir::PrimFunc> read_prim_func(ModuleScope& scope, const ast::Stmt& definition) {
  if (is_packed_api(definition))
    return scope.source.error(
        definition.name_place, Kind::unsupported,
        "'{}' takes packed arguments (args, num_args, calling_conv), since TVM's MakePackedAPI has "
        "lowered it; compile the module as it was before that pass",
        definition.text);
  std::set<std::string> index_params;
  for (;;) {
    PrimParts fn(scope, index_params);
    Result<tir::PrimFunc> made = read_once(fn, definition);
    size_t known = index_params.size();
    std::set<std::string> used = fn.index_parameters.used();
    index_params.merge(used);
    if (!made || index_params.size() == known) return made;
  }
}

}  // namespace relaxc::frontend
