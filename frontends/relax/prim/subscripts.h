// subscripts.h: elements and parts of buffers.
#pragma once

#include "frontends/relax/prim/parts.h"

namespace relaxc::frontend {

/// The subscripts of `A[i, j]`, one a dim.
Result<std::vector<arith::Expr>> subscripts(PrimParts& fn, tir::BufferRef buffer,
                                            const std::vector<const ast::Expr*>& given, Place place);
/// `A[i, j]`, and A.vload([i, j]) whose last subscript begins a row of lanes.
Result<Scalar> buffer_element(PrimParts& fn, const ast::Expr& buffer, const ast::Expr& at);
/// `A[i, 0:8]`, or all of a buffer by its name.
Result<tir::BufferRegion> buffer_region(PrimParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
