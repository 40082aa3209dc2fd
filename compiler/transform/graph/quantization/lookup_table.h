// lookup_table.h: expensive functions of quantized tensors as tables.
#pragma once

#include "compiler/relax/module.h"
#include "compiler/transform/pass.h"

namespace relaxc {

/// Replaces each `quantize` that ends a function of one tensor of bytes, with something expensive in it (exp, erf, …),
/// by a look into a table of its 256 results, which is left to fold_constants. Other quantizations may be between.
Result<Changed> look_up_expensive_functions(relax::Module& module, relax::Function& function, PassContext& context);

}  // namespace relaxc
