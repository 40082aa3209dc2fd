// schedule_kernels.cpp: schedules as a pass.
//
// It stands here because it joins two rooms that do not know each other: passes do not see schedules (they ask
// schedule/query.h), and schedules do not see passes. Kernels are independent of each other, and their parameters stay
// what they are, so callers need no change.
#include "compiler/pipeline/schedule_kernels.h"

#include "compiler/schedule/kernel.h"

namespace relaxc {

Result<Changed> schedule_kernels(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (tir::PrimFunc* kernel : module.prim_funcs())
    if (schedule::schedule_kernel(module.context(), *kernel, context.target)) changed = Changed::kYes;
  return changed;
}

}  // namespace relaxc
