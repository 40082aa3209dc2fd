// share_across_arms.h: keeps values that several arms of selects need in locals.
#pragma once

#include "compiler/tir/prim_func.h"

namespace relaxc {

/// Keeps values that several arms of selects share in locals, in stores of `s` that would otherwise become very many
/// copies: an arm that reads memory computes all that it needs, so nested selects may copy a value very often. Other
/// stores stay as they are. Changes no bit.
tir::Stmt share_across_arms(arith::Context& context, tir::Stmt s);

}  // namespace relaxc
