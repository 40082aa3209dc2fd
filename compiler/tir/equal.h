// equal.h: whether two prim funcs are the same program.
#pragma once

#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// Whether two functions are equal except for the identities and names of their variables and buffers, the ids of loops
/// and blocks, and locations. The functions may belong to different Contexts. An allocation or binding counts as
/// holding to the end of the suite that it is in.
bool structurally_equal(const PrimFunc& a, const PrimFunc& b);

}  // namespace relaxc::tir
