// index_rules.h: rules of canonicalize about tables of indices that are known when compiling.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

/// What is taken at indices that count up is a slice.
relax::Value* take_of_range(const Site& s);
/// A scatter to all places of a box is a concatenation of the updates and what is around them.
relax::Value* scatter_to_box(const Site& s);

}  // namespace relaxc
