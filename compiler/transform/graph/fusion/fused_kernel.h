// fused_kernel.h: one prim func made of several.
#pragma once

#include <vector>

#include "compiler/relax/module.h"

namespace relaxc {

/// Replaces the call_tir ops `members` (in order, one result each) by one call of a new prim func, which is where
/// the member `place` was and has a result for every member whose result somebody else uses. The last nest of a
/// member that is spatial is written into its consumers; other intermediate results become allocations of the kernel.
///
/// All operands of members must be before `place`, and all other users of their results behind it.
void fuse_group(relax::Module& module, const std::vector<relax::Op*>& members, relax::Op& place);

}  // namespace relaxc
