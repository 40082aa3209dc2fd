// parts.h: the parts of the reader of one Relax function.
//
//   GraphCursor  the insertion point of ops
//   Names        names and their meanings, and those that went out of scope
//   Captures     of a nested function: what it captures of the enclosing one
//   Dims         scalar expressions, and how unknown names in dims are handled
//   DimSizes     the sizes of dims with the names in them written out
//   Results      what the function declares and returns
//
// Each has its own state. Functions over these parts read the constructs of the language; they are declared in a header
// for each topic: signature.h, infos.h, casts.h, values.h, expressions.h, special_forms.h, operators.h, calls.h,
// closures.h, statements.h. They keep no state between constructs; branches, loops and calls of operators are read by
// classes in their sources.
#pragma once

#include <memory>

#include "frontends/relax/function/captures.h"
#include "frontends/relax/function/dim_sizes.h"
#include "frontends/relax/function/dims.h"
#include "frontends/relax/function/explicit_memory.h"
#include "frontends/relax/function/graph_cursor.h"
#include "frontends/relax/function/names.h"
#include "frontends/relax/function/results.h"

namespace relaxc::frontend {

struct FunctionParts {
  FunctionParts(ModuleScope& module_scope, const ast::Stmt& written, relax::Function& made)
      : scope(module_scope),
        source(module_scope.source),
        definition(written),
        function(made),
        graph(module_scope, made),
        names(*this),
        dims(*this),
        sizes(module_scope.source),
        results(written, module_scope.source) {}
  FunctionParts(const FunctionParts&) = delete;

  ModuleScope& scope;
  SourceText& source;
  const ast::Stmt& definition;
  relax::Function& function;
  GraphCursor graph;
  Names names;
  Dims dims;
  DimSizes sizes;
  ExplicitMemory memory;
  Results results;
  std::unique_ptr<Captures> captures;  ///< null: a function of the module
  const ast::Expr* hint = nullptr;     ///< the annotation of the statement being read

  arith::Context& context() const { return scope.module.context(); }
  Diagnostics& diag() const { return source.diag(); }
};

}  // namespace relaxc::frontend
