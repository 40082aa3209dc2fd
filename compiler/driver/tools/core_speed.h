// core_speed.h: how fast this machine is, for `relaxc bench --profile`.
#pragma once

#include "compiler/api/observe/profile.h"

namespace relaxc::driver {

using namespace api;

/// The clock and the memory of one core, measured in a twentieth of a second.
CoreSpeed measured_speed();

}  // namespace relaxc::driver
