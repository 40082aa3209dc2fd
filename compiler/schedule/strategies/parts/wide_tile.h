// wide_tile.h: tiles whose rows are widened to 16 bits before the columns that read them.
#pragma once

#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Tiles of several rows by one column, whose bytes are widened once for all columns, if the draft sums bytes in words
/// and that takes fewer cycles than widening them where they are read; the number of rows. 0: it is not done.
///
/// \param rows, columns  loops of the result, `rows` outside: the bytes change along one of them, the words along the
///                       other
Legal<int64_t> tile_of_wide_rows(Draft& draft, uint32_t rows, uint32_t columns);

}  // namespace relaxc::schedule
