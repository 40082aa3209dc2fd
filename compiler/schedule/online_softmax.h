// online_softmax.h: a softmax and what is summed with its weights, for one block of keys after the other.
#pragma once

#include "compiler/schedule/schedule.h"

namespace relaxc::schedule {

/// How many keys a block of the nests in `loop`, over blocks of rows, should have; 0: rows are to stay whole, because
/// they have less than `fewest` keys (0: always), or are of something else than a softmax.
int64_t keys_of_block(const Schedule& s, uint32_t loop, int64_t fewest);

}  // namespace relaxc::schedule
