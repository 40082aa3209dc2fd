// isolated.h: code that may crash, hang or eat all memory, run where that does no harm.
#pragma once

#include <functional>
#include <string>

namespace relaxc::property {

struct Ended {
  enum How { kWell, kCrashed, kTimedOut } how = kWell;
  std::string output;  ///< what the function gave; of a crash, which signal
};

/// Runs `function` in a child process that uses so much time of a CPU, and memory, at most.
Ended run_isolated(const std::function<std::string()>& function, unsigned seconds, size_t megabytes);

}  // namespace relaxc::property
