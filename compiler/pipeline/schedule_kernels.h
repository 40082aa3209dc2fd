// schedule_kernels.h: the pass that gives kernels their schedules.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

/// Schedules every kernel for the target. Needs kLegal; gives kScheduled. What no rule fits stays as it is defined.
Result<Changed> schedule_kernels(relax::Module&, PassContext&);

}  // namespace relaxc
