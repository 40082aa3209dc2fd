// parameterize_constants.h: numbers in a kernel that may become parameters.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc {

/// A kernel with a variable in place of each number that may become a parameter.
struct KernelConstants {
  tir::PrimFunc kernel;
  std::vector<arith::Var> variables;  ///< in the order of the text; each has one place
  std::vector<arith::Expr> values;    ///< the numbers that they replace
};

/// Extracts numbers from maps: operands of additions, subtractions, minima and maxima, and of products, comparisons and
/// selects of floats. There, an instruction takes a register as well as a constant. Leaves numbers of sums, which
/// schedules look at; shifts, divisors and factors of integers, which have cheaper forms if they are known; and
/// subscripts. Extracts nothing from a kernel of unusual size.
KernelConstants extract_constants(arith::Context& context, const tir::PrimFunc& kernel);

/// Extracts dims, extents and all numbers in subscripts but divisors. That costs time, and makes the code of one kernel
/// longer and that of several shorter. Leaves what a schedule has decided: extents of loops that are not serial, dims
/// and subscripts of buffers in registers. Extracts nothing from a kernel of unusual size.
KernelConstants extract_sizes(arith::Context& context, const tir::PrimFunc& kernel);

/// The name of the symbol for a dim of one of a kernel's tensors, which are counted from 0; nothing if calls do not
/// know the dim.
using NameOfDim = std::function<std::optional<std::string>(size_t tensor, size_t axis)>;

/// Returns a copy of `kernel` with a symbol in place of each dim of its tensors that is computed, whose value a call
/// reads off the operand. Only for dims whose variables occur nowhere else in the kernel. Nothing if there is no such
/// dim.
std::optional<tir::PrimFunc> with_named_dims(arith::Context& context, const tir::PrimFunc& kernel,
                                             const NameOfDim& name_of);

}  // namespace relaxc
