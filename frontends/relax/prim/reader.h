// reader.h: converts the tree of a @T.prim_func to TIR.
#pragma once

#include "compiler/tir/builder.h"
#include "frontends/relax/shared/globals.h"

namespace relaxc::frontend {

/// Reads the function that `definition` defines.
Result<tir::PrimFunc> read_prim_func(ModuleScope& scope, const ast::Stmt& definition);

}  // namespace relaxc::frontend
