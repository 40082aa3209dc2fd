// parameterize_constants.h: the numbers in a kernel that may as well be handed to it.
#pragma once

#include <optional>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc {

/// A kernel with a variable in place of each number that may be handed to it.
struct KernelConstants {
  tir::PrimFunc kernel;
  std::vector<arith::Var> variables;  ///< in the order of the text; each has one place
  std::vector<arith::Expr> values;    ///< what was there
};

/// Takes out what maps add, subtract and compare with, what floats are multiplied by, and floats that are chosen: an
/// instruction takes a register as well as a constant there. Numbers of sums stay, for schedules ask about them, and so
/// do shifts, divisors and factors of integers, which have cheaper forms if they are known, and whatever is subscripted
/// or branched on. Nothing is taken out of a kernel of unusual size.
KernelConstants extract_constants(arith::Context& context, const tir::PrimFunc& kernel);

/// Takes out dims, extents and all numbers of subscripts but divisors. That costs time, and makes the code of one
/// kernel longer and that of several shorter. What a schedule has decided stays: extents of loops that run all at once,
/// dims and subscripts of memory in registers. Nothing is taken out of a kernel of unusual size.
KernelConstants extract_sizes(arith::Context& context, const tir::PrimFunc& kernel);

/// A copy of `kernel` with a symbol in place of each long dim of its parameters, which a call finds by looking at the
/// operand. Only where the kernel knows nothing else of the dim's variables: then no proof gets harder. Nothing: no dim
/// is of that kind.
std::optional<tir::PrimFunc> with_named_dims(arith::Context& context, const tir::PrimFunc& kernel);

}  // namespace relaxc
