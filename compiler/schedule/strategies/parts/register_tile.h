// register_tile.h: tiles a reduction in registers, once its vectorized and unrolled loops are decided.
#pragma once

#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

inline constexpr int64_t kMostTileVectors = 8;  ///< vectors along the vectorized axis
inline constexpr int64_t kMostTileRows = 16;

/// The number of elements of the buffer; unknown dims count as 1.
double elements_of(BufferRef buffer);

/// The same for a large image where dims are open, as far as their bounds allow; of an open batch, for one of it.
double assumed_elements_of(BufferRef buffer, const arith::Facts& facts);

/// Orders the terms of the sum, decides the shape of the tile, packs constants for it and splits both loops.
Legal<> tile_in_registers(Draft& draft);

}  // namespace relaxc::schedule
