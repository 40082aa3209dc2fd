// sizes.h: chooses values of symbols for profiles.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/relax/module.h"

namespace relaxc::api {

/// Returns values of the symbols of `entry`, in order, near `wanted`, that its bounds and guards accept; if none are
/// found, values that the fewest guards refuse.
std::vector<int64_t> admissible_sizes(const relax::Module& module, const interface::Entry& entry, int64_t wanted);

}  // namespace relaxc::api
