// core_speed.h: measures this machine's speed for `relaxc bench --profile` and `relaxc tune --machine`.
#pragma once

#include <chrono>

#include "compiler/api/observe/profile.h"

namespace relaxc::driver {

using namespace api;

/// Returns the wall time of `work` in seconds.
double seconds_of(auto&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Measures the clock and the memory bandwidth of one core, in a twentieth of a second.
CoreSpeed measured_speed();

}  // namespace relaxc::driver
