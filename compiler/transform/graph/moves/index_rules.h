// index_rules.h: rules of canonicalize for tables of indices that are known when compiling.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

/// Replaces a take of consecutive indices by a slice.
relax::Value* take_of_range(const Site& s);
/// Replaces a scatter to all indices of a box by a concatenation of the updates and the parts around them.
relax::Value* scatter_to_box(const Site& s);

}  // namespace relaxc
