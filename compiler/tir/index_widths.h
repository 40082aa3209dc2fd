// index_widths.h: which index values of a prim func 32 bits hold.
//
// An index is a mathematical integer, which backends compute in 64 bits. On machines with registers of 32 bits that is
// two registers and several instructions for each counter and each subscript. There, backends keep the value of an
// expression in 32 bits if its range fits, and compute an operation in the widest type among its result and its
// operands: so no operation overflows that would not in 64 bits, whatever is in between. What the ranges do not bound
// stays in 64 bits, value by value. The pass bound_kernel_dims says what bounds the dims of kernels.
#pragma once

#include "compiler/tir/index_checks.h"

namespace relaxc::tir {

/// The widths of the index expressions of one prim func. Both backends ask here.
class IndexWidths {
 public:
  explicit IndexWidths(const PrimFunc& function) : ranges_(function) {}

  /// Whether 32 bits hold `e` whatever the variables are; false of all that is not an index.
  bool is_narrow(Expr e) { return e.dtype().is_index() && holds(ranges_.range(e)); }
  /// Whether 32 bits hold the loop's counter with its bounds.
  bool is_narrow(const For& loop) {
    return is_narrow(loop.var) && is_narrow(loop.min) && is_narrow(loop.extent) && is_narrow(loop.min + loop.extent);
  }

 private:
  static bool holds(arith::Range range) { return range.lower >= INT32_MIN && range.upper <= INT32_MAX; }

  IndexRanges ranges_;
};

/// Whether the function's indices may be narrow: it is a kernel. Functions that leave with a status, call others or are
/// called by C run once, and their values go to places of 64 bits.
bool may_have_narrow_indices(const PrimFunc& function);

}  // namespace relaxc::tir
