// signature.h: the head of a prim func: parameters, symbols, attributes.
#pragma once

#include "frontends/relax/prim/parts.h"

namespace relaxc::frontend {

/// Decorators, type parameters and parameters; false if something was reported.
bool read_prim_signature(PrimParts& fn, const ast::Stmt& definition);
/// What must hold when the body has been read: every symbol has a value, and every handle is a buffer.
/// The buffer of one element that `return value` stores to, of the dtype that the function declares or else returns.
Result<tir::BufferRef> result_buffer(PrimParts& fn, DType dtype, Place place);
Status finish_signature(PrimParts& fn, const ast::Stmt& definition);
/// prim_attributes.cpp: T.func_attr({…}).
Status prim_attributes(PrimParts& fn, const ast::Expr& call);

}  // namespace relaxc::frontend
