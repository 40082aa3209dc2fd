// run_tile.h: tiles of byte products whose operands are contiguous along the sum.
#pragma once

#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Whether the draft sums products of bytes that are contiguous along its innermost axis in both operands, on a target
/// that keeps four such sums in registers which it cannot multiply in (ByteTileForm::kThumb). If so, packs constants
/// so that the bytes of a sum are consecutive.
///
/// \param rows, columns  the spatial loops that are tiled; `rows` may be 0
Legal<bool> takes_runs(Draft& draft, uint32_t rows, uint32_t columns);

}  // namespace relaxc::schedule
