// parts.h: what the reader of one prim func is made of.
//
//   PrimNames        what names stand for
//   IndexParameters  which integer parameters are extents
//   Views            buffers that are parts of others
//   Ranges           values that variables take for certain
//   Lanes            the lanes of the store that is being read
//   Loops, Blocks    the surrounding ones, and what has been written
//   PrimScalars      scalar expressions
//
// Each keeps its state to itself; the statements of a suite are in a Suite. What reads a kind of text is functions over
// the parts, declared in a header a topic: signature.h, buffers.h, subscripts.h, statements.h, calls.h, vector.h. They
// keep nothing between one piece of text and the next.
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
        names(context(), module_scope.source),
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
  tir::BufferRef result = nullptr;  ///< where `return value` leaves the value; null: nothing is returned
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
