// parts.h: the parts of the reader of one prim func.
//
//   PrimNames        names and their meanings
//   IndexParameters  the integer parameters that are extents
//   Views            buffers that are parts of others
//   Ranges           exact ranges of variables
//   Lanes            the lanes of the store that is read
//   Loops, Blocks    the enclosing ones, and what has been written
//   PrimScalars      scalar expressions
//
// Each has its own state; the statements of a suite are in a Suite. Functions over these parts read the constructs of
// the language; they are declared in a header for each topic: signature.h, buffers.h, subscripts.h, statements.h,
// vector.h. They keep no state between constructs.
#pragma once

#include "frontends/relax/prim/blocks.h"
#include "frontends/relax/prim/index_parameters.h"
#include "frontends/relax/prim/lanes.h"
#include "frontends/relax/prim/loops.h"
#include "frontends/relax/prim/names.h"
#include "frontends/relax/prim/ranges.h"
#include "frontends/relax/prim/scalars.h"
#include "frontends/relax/prim/suite.h"
#include "frontends/relax/prim/views.h"
#include "frontends/relax/shared/globals.h"

namespace relaxc::frontend {

struct PrimParts {
  PrimParts(ModuleScope& module_scope, const std::set<std::string>& index_params)
      : scope(module_scope),
        source(module_scope.source),
        builder(module_scope.module.context()),
        names(module_scope),
        index_parameters(index_params),
        ranges(module_scope.source),
        lanes(context()),
        blocks(views),
        scalars(*this) {}
  PrimParts(const PrimParts&) = delete;

  ModuleScope& scope;
  SourceText& source;
  tir::Builder builder;
  tir::PrimFunc function;
  tir::BufferRef result = nullptr;  ///< the buffer to which `return value` stores; null if nothing is returned
  PrimNames names;
  IndexParameters index_parameters;
  Views views;
  Ranges ranges;
  Lanes lanes;
  Loops loops;
  Blocks blocks;
  PrimScalars scalars;
  Open open;

  arith::Context& context() const { return scope.module.context(); }
  Diagnostics& diag() const { return source.diag(); }
  void note_store(tir::BufferRef buffer, arith::Expr value) { blocks.note_store(buffer, value, scalars.certain()); }
};

}  // namespace relaxc::frontend
