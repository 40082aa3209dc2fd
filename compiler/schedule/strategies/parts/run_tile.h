// run_tile.h: tiles whose operands are runs of bytes.
#pragma once

#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Whether the draft sums products of bytes that lie side by side along its innermost axis in both operands, on a
/// target that adds four such sums in registers which it does not multiply in (ByteTileForm::kThumb). Constants are
/// packed for it then: the bytes of a sum one behind the other.
///
/// \param rows, columns  loops of the result that a tile is of; `rows` may be 0
Legal<bool> takes_runs(Draft& draft, uint32_t rows, uint32_t columns);

}  // namespace relaxc::schedule
