// options.h: what strategies may do that is more than another order.
#pragma once

#include <cstdint>

namespace relaxc::schedule {

struct ScheduleOptions {
  int64_t winograd = 4;           ///< the most rows that Winograd's algorithm gives at once: 0 (none), 2 or 4
  int64_t online_softmax = 1024;  ///< the fewest keys of a row that a softmax takes by blocks of them; 0: never
  bool small = false;             ///< size before speed
  bool smallest = false;          ///< size alone; `small` is set, too
};

}  // namespace relaxc::schedule
