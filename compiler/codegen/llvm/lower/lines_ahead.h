// lines_ahead.h: the lines of memory that later iterations of a loop read.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::codegen_llvm {

/// What one iteration reads of an operand, in lines that the iterations before it do not read.
struct LinesAhead {
  tir::BufferRef buffer = nullptr;
  std::vector<arith::Expr> first;  ///< subscripts of the first element that it reads
  arith::Expr step;                ///< distance to the next iteration's, in elements; the same for all iterations
  int64_t bytes = 0;               ///< from the first byte to behind the last one
};

/// Finds such operands in the body of `loop`: those that move by a line or more, or by an open distance. Operands that
/// move by less are left to the processor, which follows them.
///
/// \param lane, lanes  the variable of the vectorized loop around it, and how many iterations run together; null and 1
///                     if there is none
std::vector<LinesAhead> lines_ahead(const tir::For& loop, arith::Var lane, int64_t lanes);

}  // namespace relaxc::codegen_llvm
