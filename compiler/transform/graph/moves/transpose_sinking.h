// transpose_sinking.h: moves permutations of dims towards the results.
#pragma once

#include <vector>

#include "compiler/relax/builder.h"

namespace relaxc {

/// Whether an operator broadcasts its operands as NumPy does and computes element by element, according to its
/// definition.
bool is_elementwise(arith::Context& context, const relax::Op& op);

/// Moves each permute_dims of `seeds` behind the operators that read it, if they compute the same in the order of dims
/// before it: element-wise operators, quantization, reductions over axes, max pools of bytes, concat. It stops at
/// operators with other operands that would need a permutation of their own.
Status sink_transposes(relax::Module& module, const relax::OpTable& ops, Diagnostics& diag,
                       std::vector<relax::Op*> seeds);

}  // namespace relaxc
