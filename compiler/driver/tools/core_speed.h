// core_speed.h: how fast this machine is, for `relaxc bench --profile`.
#pragma once

#include "compiler/driver/report/profile.h"

namespace relaxc::driver {

/// The clock and the memory of one core, measured in a twentieth of a second.
CoreSpeed measured_speed();

}  // namespace relaxc::driver
