// options.h: options of strategies, from flags.
#pragma once

#include <cstdint>

namespace relaxc::schedule {

struct ScheduleOptions {
  int64_t winograd = 4;           ///< the largest m of Winograd's F(m, 3): 0 (never), 2 or 4
  int64_t online_softmax = 1024;  ///< the fewest keys of a row for which softmax is computed in blocks; 0: never
  bool small = false;             ///< prefer small code
  bool smallest = false;          ///< prefer the smallest code whatever it costs in time; implies `small`
  bool little_memory = false;     ///< prefer little scratch memory: the program has a budget of RAM
};

}  // namespace relaxc::schedule
