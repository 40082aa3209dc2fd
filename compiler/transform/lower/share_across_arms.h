// share_across_arms.h: values that several arms of selects need are kept in locals.
#pragma once

#include "compiler/tir/prim_func.h"

namespace relaxc {

/// An arm of a select that reads memory computes all that it needs, so nested selects may copy a value very often.
/// Where a store in `s` would become very many copies, values that several arms share are kept in locals. All other
/// stores stay as they are. Changes no bit.
tir::Stmt share_across_arms(arith::Context& context, tir::Stmt s);

}  // namespace relaxc
