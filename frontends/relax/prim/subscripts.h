// subscripts.h: reads elements and regions of buffers.
#pragma once

#include "frontends/relax/prim/parts.h"

namespace relaxc::frontend {

/// An element of a buffer.
struct Element {
  tir::BufferRef buffer = nullptr;
  std::vector<arith::Expr> indices;  ///< one for each dim
};
/// Reads the element that `at` names in `base`, a buffer or a pointer (`A.data`), whose elements count from the first.
Result<Element> element_of(PrimParts& fn, const ast::Expr& base, const std::vector<const ast::Expr*>& at, Place place);
/// Returns the subscripts of `A[i, j]`, one for each dim.
Result<std::vector<arith::Expr>> subscripts(PrimParts& fn, tir::BufferRef buffer,
                                            const std::vector<const ast::Expr*>& given, Place place);
/// Reads `A[i, j]`, and A.vload([i, j]), whose lanes begin at the last subscript.
Result<Scalar> buffer_element(PrimParts& fn, const ast::Expr& buffer, const ast::Expr& at);
/// Reads `A[i, 0:8]`, or the region of a whole buffer by its name.
Result<tir::BufferRegion> buffer_region(PrimParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
