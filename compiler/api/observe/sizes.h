// sizes.h: at which sizes a program is looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/relax/module.h"

namespace relaxc::api {

/// Values of the symbols of `entry`, in their order, near `wanted` for each of them, that its bounds and guards accept.
/// Where none are found, those that the fewest guards refuse.
std::vector<int64_t> admissible_sizes(const relax::Module& module, const interface::Entry& entry, int64_t wanted);

}  // namespace relaxc::api
