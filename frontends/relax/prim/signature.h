// signature.h: reads the head of a prim func: parameters, symbols, attributes.
#pragma once

#include "frontends/relax/prim/parts.h"

namespace relaxc::frontend {

/// Reads decorators, type parameters and parameters; false if errors were reported.
bool read_prim_signature(PrimParts& fn, const ast::Stmt& definition);
/// Returns the buffer of one element to which `return value` stores, of the declared dtype or else `dtype`. After the
/// body, finish_signature reports symbols that it uses without a value, and handles without a buffer.
Result<tir::BufferRef> result_buffer(PrimParts& fn, DType dtype, Place place);
Status finish_signature(PrimParts& fn, const ast::Stmt& definition, tir::Stmt body);
/// prim_attributes.cpp: reads T.func_attr({…}).
Status prim_attributes(PrimParts& fn, const ast::Expr& call);

}  // namespace relaxc::frontend
