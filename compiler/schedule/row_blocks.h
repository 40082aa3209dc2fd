// row_blocks.h: a kernel for one block of rows after the other.
#pragma once

#include "compiler/schedule/schedule.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// How many rows of the result a block of the whole kernel should have; 0: no rows in between are needed whole, or the
/// nests are not of rows.
///
/// \param most  elements of each row that are kept at a time; 0: whole rows
int64_t rows_of_block(const Schedule& s, const Target& target, int64_t most = 0);

}  // namespace relaxc::schedule
