// nests.h: the form of a nest; read-only queries of strategies and steps.
#pragma once

#include <vector>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"

namespace relaxc::schedule {

/// Whether the loops begin at 0 and the block's axes are bound to the loop variables one to one.
bool is_normal(const analysis::Nest& nest);

/// The spatial axes of the nest, if they are the subscripts of its result in this order; else nothing.
std::vector<Var> own_axes(const analysis::Nest& nest);

}  // namespace relaxc::schedule
