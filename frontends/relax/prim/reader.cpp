// reader.cpp: reads a prim func, signature first, and again as long as its body shows parameters to be extents
// (index_parameters.h).
#include "frontends/relax/prim/reader.h"

#include "frontends/relax/prim/signature.h"
#include "frontends/relax/prim/statements.h"

namespace relaxc::frontend {

namespace {

Result<tir::PrimFunc> read_once(PrimParts& fn, const ast::Stmt& definition) {
  fn.function.name = definition.text;
  fn.function.location = fn.source.at(definition.name_place);
  fn.function.origins = {fn.function.location};
  fn.function.is_private = false;
  bool ok = read_prim_signature(fn, definition);
  Result<tir::Stmt> body = prim_suite(fn, definition.body);
  ok = ok && body && finish_signature(fn, definition);
  if (!ok) return fn.diag().failed();
  fn.function.body = *body;
  tir::collect_symbols(fn.function);
  return std::move(fn.function);
}

}  // namespace

Result<tir::PrimFunc> read_prim_func(ModuleScope& scope, const ast::Stmt& definition) {
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
