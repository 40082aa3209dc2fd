// wide_rows.h: widens the bytes of a tile's rows to 16 bits once for all columns.
#pragma once

#include "compiler/schedule/strategies/parts/tile_loops.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Whether it pays to widen the bytes of each tile of rows once for all columns, in a draft that sums words of bytes by
/// products of 16-bit pairs. Rows must then be outside of columns.
///
/// \param rows, columns  spatial loops; the bytes depend on `rows`, the words on `columns`, which are vectorized
bool gains_by_wide_rows(const Draft& draft, uint32_t rows, uint32_t columns);

/// Splits `rows` into tiles of `height` and smaller ones, and widens the bytes of each tile. Changes nothing if a step
/// is not legal. The constant must not be packed yet.
Legal<std::vector<AxisPart>> cut_wide_rows(Draft& draft, uint32_t rows, int64_t height);

}  // namespace relaxc::schedule
