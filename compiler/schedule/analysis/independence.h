// independence.h: may the iterations of a loop run at the same time?
#pragma once

#include <set>

#include "compiler/schedule/analysis/access.h"

namespace relaxc::schedule {

/// Whether no iteration of `loop`, which is in `root`, reads or writes what another one writes; false also where
/// that cannot be shown. What is allocated in the body belongs to one iteration. `sums`: buffers whose accesses may
/// meet.
bool has_independent_iterations(Stmt root, const tir::For& loop, const std::set<BufferRef>& sums = {});

}  // namespace relaxc::schedule
