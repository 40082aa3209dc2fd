// register_tile.h: the tile of a reduction whose axes are chosen.
#pragma once

#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

inline constexpr int64_t kMostTileVectors = 8;  ///< side by side
inline constexpr int64_t kMostTileRows = 16;

/// Elements of the buffer; dims that are not known are left out.
double elements_of(BufferRef buffer);

/// Puts the terms of the sum in order, chooses the shape of the tile, packs constants for it and cuts both axes.
Legal<> tile_in_registers(Draft& draft);

}  // namespace relaxc::schedule
