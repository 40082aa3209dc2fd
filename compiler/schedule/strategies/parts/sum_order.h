// sum_order.h: in which order the terms of a tile's sums are added up.
#pragma once

#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Factors that many terms share are applied to the sum of those terms. Gives the block that does it; 0: there are
/// none.
Legal<uint32_t> factor_out(Draft& draft);

/// Loops of the reduction on which a branch depends go outwards, so that it is decided once for the inner ones; so do
/// taps along the rows of a tile, whose scalars would else be kept in registers for the next tap.
///
/// \param factored  factors were taken out of the sum, so that its order stays
Legal<> order_terms(Draft& draft, bool factored);

/// Rows of a tile, at most. Rows that several taps read take a register each until the last of them has.
int64_t most_tile_rows(const Draft& draft);

}  // namespace relaxc::schedule
