// parts.h: what the reader of one Relax function is made of.
//
//   GraphCursor  where ops go
//   Names        what names stand for, and which of them stayed inside of something
//   Captures     of a nested function: what it takes from the one around
//   Dims         scalar expressions, and the pattern that dims are read by
//   DimSizes     how large dims are when they are written out
//   Results      what the function declares and returns
//
// Each keeps its state to itself. What reads a kind of text is functions over the parts, declared in a header a topic:
// signature.h, infos.h, casts.h, values.h, expressions.h, special_forms.h, operators.h, calls.h, closures.h,
// statements.h. They keep nothing between one piece of text and the next; what reads a branch, a loop or one call of an
// operator has a class in its source.
#pragma once

#include <memory>

#include "frontends/relax/function/captures.h"
#include "frontends/relax/function/dim_sizes.h"
#include "frontends/relax/function/dims.h"
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
  Results results;
  std::unique_ptr<Captures> captures;  ///< null: a function of the module
  const ast::Expr* hint = nullptr;     ///< the annotation of the statement being read

  arith::Context& context() const { return scope.module.context(); }
  Diagnostics& diag() const { return source.diag(); }
};

}  // namespace relaxc::frontend
