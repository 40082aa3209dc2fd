// grouped_queries.h: rules on attention and its products; see grouped_queries.cpp.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

/// Attention of keys and values that are repeated for groups of heads, as attention of groups to heads that they share.
relax::Value* group_queries(const Site& site);
/// The same of one product, where attention is not written as one: between its products may stand what is asked for.
relax::Value* group_queries_of_product(const Site& site);

}  // namespace relaxc
