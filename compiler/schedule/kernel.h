// kernel.h: scheduling a whole prim func.
#pragma once

#include "compiler/tir/prim_func.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// Gives every nest of the kernel's body the schedule that fits; what no rule fits stays as it is. The attribute
/// `schedule` tells what was done. False: nothing changed.
bool schedule_kernel(arith::Context& context, tir::PrimFunc& kernel, const Target& target);

}  // namespace relaxc::schedule
