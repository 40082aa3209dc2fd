// join.h: joins the results of branches that passes make.
#pragma once

#include "compiler/relax/graph.h"

namespace relaxc::relax {

/// Returns an info of a value that is `a` or `b`, which differ at most in dims or scalar values: where they differ, or
/// depend on symbols of the branches, it has new symbols, which `branch` binds.
Info joined_info(Op& branch, Info a, Info b);

/// Adds a result to `branch`: `yes` of its first region, `no` of its second. Returns the value itself if both are one.
Value* join_results(Op& branch, Value* yes, Value* no);

}  // namespace relaxc::relax
