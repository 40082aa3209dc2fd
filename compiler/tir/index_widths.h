// index_widths.h: finds the index values of a prim func that fit 32 bits.
//
// An index is a mathematical integer that backends compute in 64 bits. On 32-bit machines that takes two registers and
// several instructions for each counter and each subscript. There, backends keep the value of an expression in 32 bits
// if its range fits, and compute an operation in the widest type among its result and its operands: so no operation
// overflows that would not in 64 bits, whatever the intermediate values are. Values without a known range stay in 64
// bits. The pass bound_kernel_dims finds the ranges of kernels' dims.
#pragma once

#include "compiler/tir/index_checks.h"

namespace relaxc::tir {

/// The widths of the index expressions of one prim func; used by both backends.
class IndexWidths {
 public:
  explicit IndexWidths(const PrimFunc& function) : ranges_(function) {}

  /// Returns whether `e` is an index and fits 32 bits for all values of the variables.
  bool is_narrow(Expr e) { return e.dtype().is_index() && holds(ranges_.range(e)); }
  /// Returns whether the loop's counter and its bounds fit 32 bits.
  bool is_narrow(const For& loop) {
    return is_narrow(loop.var) && is_narrow(loop.min) && is_narrow(loop.extent) && is_narrow(loop.min + loop.extent);
  }

 private:
  static bool holds(arith::Range range) { return range.lower >= INT32_MIN && range.upper <= INT32_MAX; }

  IndexRanges ranges_;
};

/// Returns whether the function is a kernel, whose indices may be narrow. Functions that return a status, call others
/// or are called by C run once, and their values go to 64-bit parameters and fields.
bool may_have_narrow_indices(const PrimFunc& function);

}  // namespace relaxc::tir
