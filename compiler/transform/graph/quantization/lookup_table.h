// lookup_table.h: replaces expensive functions of quantized tensors by tables.
#pragma once

#include "compiler/relax/module.h"
#include "compiler/transform/pass.h"

namespace relaxc {

/// Replaces each `quantize` that ends a function of one tensor of bytes with something expensive in it (exp, erf, …) by
/// a lookup in a table of its 256 results, which fold_constants evaluates. Other quantizations may be in between.
Result<Changed> look_up_expensive_functions(relax::Module& module, relax::Function& function, PassContext& context);

}  // namespace relaxc
