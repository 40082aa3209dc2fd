// wide_rows.h: rows of a register tile in 16 bits before the columns that read them.
#pragma once

#include "compiler/schedule/strategies/parts/tile_loops.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Whether a draft that sums bytes in words by products of pairs in lanes gains by widening the bytes of each tile of
/// rows once for all columns. Rows must then be outside of columns.
///
/// \param rows, columns  loops of the result; the bytes change along `rows`, the words along `columns`, which are in
///                       lanes
bool gains_by_wide_rows(const Draft& draft, uint32_t rows, uint32_t columns);

/// Cuts `rows` into tiles of `height` and smaller ones, and widens the bytes of each tile. Nothing, and no change: the
/// step is not legal. The constant is not packed yet.
Legal<std::vector<AxisPart>> cut_wide_rows(Draft& draft, uint32_t rows, int64_t height);

}  // namespace relaxc::schedule
