// equal.h: structural equality of prim funcs.
#pragma once

#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// Returns whether two functions are equal except for the identities and names of variables and buffers, the ids of
/// loops and blocks, and locations. They may belong to different Contexts. An allocation or binding extends to the end
/// of its suite, so nesting it differently makes no difference.
bool structurally_equal(const PrimFunc& a, const PrimFunc& b);

}  // namespace relaxc::tir
