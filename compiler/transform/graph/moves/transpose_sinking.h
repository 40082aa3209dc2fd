// transpose_sinking.h: moving permutations of dims towards the results.
#pragma once

#include <vector>

#include "compiler/relax/builder.h"

namespace relaxc {

/// Whether an operator broadcasts its operands as NumPy does and computes element by element, which its definition
/// says.
bool is_elementwise(arith::Context& context, const relax::Op& op);

/// Moves each permute_dims of `seeds` behind the operators that read it, as far as they compute the same in the order
/// of dims that it has: element-wise operators, quantization, sums over axes, concat. What stays between has other
/// operands that would need a permutation of their own.
Status sink_transposes(relax::Module& module, const relax::OpTable& ops, Diagnostics& diag,
                       std::vector<relax::Op*> seeds);

}  // namespace relaxc
