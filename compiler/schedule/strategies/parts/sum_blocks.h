// sum_blocks.h: which blocks the terms of long sums are added in.
#pragma once

#include <cstdint>

#include "compiler/schedule/strategies/parts/tile_shape.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Blocks of the terms of a sum, between which all tiles of a panel of columns have their turn.
struct SumBlocks {
  uint32_t loop = 0;  ///< the loop over terms; 0: they are not divided
  int64_t size = 0;   ///< its iterations in a block
  int64_t panel = 0;  ///< columns of a panel
};

/// The blocks that pay for tiles of this shape.
SumBlocks sum_blocks_of(const Draft& draft, const TileShape& shape);

/// Divides the vectorized loop into panels and the sum into blocks; before the tile is cut, after constants are packed.
Legal<> block_sums(Draft& draft, const SumBlocks& blocks);

}  // namespace relaxc::schedule
