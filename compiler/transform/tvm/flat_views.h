// flat_views.h: views of memory whose dims are computed on the way, as TVM can have them.
#pragma once

#include "compiler/tir/prim_func.h"

namespace relaxc {

/// Gives every view whose dims mention the variable of a `let` one dim, that of the memory it looks at, and computes
/// subscripts by its former dims. TVM's passes lose a buffer that is declared with such dims (seen in 0.27).
void flatten_views(arith::Context& context, tir::PrimFunc& function);

}  // namespace relaxc
