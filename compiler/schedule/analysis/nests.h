// nests.h: what a nest is like, as strategies and steps ask.
#pragma once

#include <vector>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"

namespace relaxc::schedule {

/// The loops begin at 0 and are, one by one, what the block's axes are bound to.
bool is_normal(const analysis::Nest& nest);

/// The axes of the nest that are not sums, if they are what it subscripts its result with, in order.
std::vector<Var> own_axes(const analysis::Nest& nest);

}  // namespace relaxc::schedule
