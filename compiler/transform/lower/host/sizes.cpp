// sizes.cpp: sizes of tensors: products of dims that are not negative numbers and fit int64.
//
// The problem: dims come from callers and from data, and their sender may choose them so that a product wraps around. A
// guard would then compare a small number, although the tensor is larger than its memory.
//
// The method: all products of dims are made by `elements_of`. That a dim is not negative is proved or guarded where a
// buffer gets it. That a product fits is checked where it is computed: index arithmetic of host functions leaves with a
// status on overflow (tir/index_checks.h), unless ranges exclude it, and the verifier refuses a host function that does
// without. Sizes of inputs and outputs are compared with the address space by the entry, before anything is written
// (entry_functions.cpp).
//
// Rejected: saturating products as expressions (a division for each dim, and a form that no prover sees through).
#include <fmt/format.h>

#include "compiler/transform/lower/host/shape_program.h"

namespace relaxc::lower {

void ShapeProgram::require_extents(const std::vector<Expr>& shape) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    Expr dim = symbols_.known(shape[axis]);
    if ((dim.constant() != nullptr && *dim.constant() >= 0) || extents_.count(dim) != 0) continue;
    tir::Guard record;
    record.code = kDimBounds, record.axis = static_cast<int32_t>(axis), record.symbol = our_symbol(dim);
    record.expected = build_.index(0), record.actual = dim;
    require(arith::ge(dim, build_.index(0)), std::move(record), {Finding::kAtLeast, fmt::format("dim {}", axis)});
    if (at_.depth() == 0) extents_.insert(dim);  // a requirement in a region holds only there
  }
}

Expr ShapeProgram::elements_of(const std::vector<Expr>& shape) {
  require_extents(shape);
  return product_of(shape);
}

Expr ShapeProgram::product_of(const std::vector<Expr>& shape) {
  Expr count = build_.index(1);
  for (Expr dim : shape) count = count * dim;
  return count;
}

}  // namespace relaxc::lower
