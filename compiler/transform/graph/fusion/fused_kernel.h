// fused_kernel.h: fuses several prim funcs into one.
#pragma once

#include <vector>

#include "compiler/relax/module.h"

namespace relaxc {

/// Replaces the call_tir ops `members` (in order, one result each) by one call of a new prim func, at the place of the
/// member `place`, with a result for every member whose result has other users. The last nest of a spatial member is
/// inlined into its consumers; other intermediate results become allocations of the kernel.
///
/// All operands of members must be defined before `place`, and all other users of their results be after it.
void fuse_group(relax::Module& module, const std::vector<relax::Op*>& members, relax::Op& place);

}  // namespace relaxc
