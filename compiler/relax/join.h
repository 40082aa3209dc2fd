// join.h: results of branches that are made by passes.
#pragma once

#include "compiler/relax/graph.h"

namespace relaxc::relax {

/// What holds of a value that is one of `a` and `b`, which differ at most in dims or values: those become symbols that
/// `branch` binds, and so do those that only the branches know.
Info joined_info(Op& branch, Info a, Info b);

/// A new result of `branch`: `yes` of its first region or `no` of its second; just the value where both are one.
Value* join_results(Op& branch, Value* yes, Value* no);

}  // namespace relaxc::relax
