// returned_scalar.h: prim funcs that return an expression of scalars, whose calls are that expression.
#pragma once

#include "compiler/tir/prim_func.h"

namespace relaxc::frontend {

/// Returns the store of what a prim func returns, if it takes `scalars` scalars, no buffers, and its body is that store
/// alone; else null.
const tir::Store* returned_scalar(const tir::PrimFunc& prim, size_t scalars);

}  // namespace relaxc::frontend
