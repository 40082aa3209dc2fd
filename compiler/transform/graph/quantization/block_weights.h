// block_weights.h: matrix products of floats by weights that are stored in few bits.
#pragma once

#include "compiler/relax/builder.h"

namespace relaxc {

/// What can stand for a matmul of a float tensor by a dequantized constant matrix, with one scale for a column or for
/// each block of a column: an `nn.matmul_nbits` of weights as they are stored. Null for every other op.
Result<relax::Value*> as_product_of_block_weights(relax::GraphBuilder& b, const relax::Op& op);

}  // namespace relaxc
