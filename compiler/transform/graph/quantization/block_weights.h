// block_weights.h: matrix products of floats by weights of few bits.
#pragma once

#include "compiler/relax/builder.h"

namespace relaxc {

/// Returns an `nn.matmul_nbits` of the stored weights that replaces a matmul of a float tensor by a dequantized
/// constant matrix, with one scale for a column or for each block of a column; null for every other op.
Result<relax::Value*> as_product_of_block_weights(relax::GraphBuilder& b, const relax::Op& op);

}  // namespace relaxc
