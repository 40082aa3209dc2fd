// fused_kernel.h: one prim func made of several.
#pragma once

#include <vector>

#include "compiler/relax/module.h"

namespace relaxc {

/// Replaces the call_tir ops `members` (in order; only the last one's result is used outside the group) by one call of
/// a new prim func. The last nest of a member that is spatial is written into its consumers; other intermediate results
/// become allocations of the kernel.
void fuse_group(relax::Module& module, const std::vector<relax::Op*>& members);

}  // namespace relaxc
