// sum_order.h: in which order the terms of a tile's sums are added up.
#pragma once

#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Applies factors that many terms share to the sum of those terms. Returns the block that does it; 0 if there is
/// none.
Legal<uint32_t> factor_out(Draft& draft);

/// Moves reduction loops on which a branch depends outwards, so that inner loops are free of it, and taps along the
/// rows of a tile, whose scalars would otherwise be kept in registers for the next tap.
///
/// \param factored  factor_out() has changed the sum, so that its order must stay
Legal<> order_terms(Draft& draft, bool factored);

/// The most rows of a tile. A row that several taps read occupies a register until the last of them has read it.
int64_t most_tile_rows(const Draft& draft);

}  // namespace relaxc::schedule
