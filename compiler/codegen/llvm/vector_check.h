// vector_check.h: which vectorized loops can be lowered to vectors.
#pragma once

#include "compiler/tir/stmt.h"

namespace relaxc::codegen_llvm {

/// True if running the statements of the loop's body one after the other, each for all lanes at once, gives the bits of
/// the serial loop: no control flow that leaves the loop, uniform bounds of inner loops, and no element that two lanes
/// both read and write.
bool can_vectorize(const tir::For& loop);

}  // namespace relaxc::codegen_llvm
