// window_blocks.h: a convolution and the pool behind it, for one block of rows after the other.
#pragma once

#include "compiler/schedule/schedule.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// How many rows of the result a block should have, where a kernel is a reduction of windows of a map that it computes
/// itself; 0: it is none, or blocks gain nothing.
int64_t rows_of_window_block(const Schedule& s, const Target& target);

}  // namespace relaxc::schedule
