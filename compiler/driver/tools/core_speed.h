// core_speed.h: how fast this machine is, for `relaxc bench --profile` and `relaxc tune --machine`.
#pragma once

#include <chrono>

#include "compiler/api/observe/profile.h"

namespace relaxc::driver {

using namespace api;

/// The wall time that `work` takes, in seconds.
double seconds_of(auto&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The clock and the memory of one core, measured in a twentieth of a second.
CoreSpeed measured_speed();

}  // namespace relaxc::driver
