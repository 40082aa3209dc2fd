// independence.h: whether the iterations of a loop may run concurrently.
#pragma once

#include <set>

#include "compiler/schedule/analysis/access.h"

namespace relaxc::schedule {

/// Whether no iteration of `loop`, which is in `root`, reads or writes an element that another one writes; false also
/// if that cannot be proved. Memory that the body allocates is private to an iteration.
///
/// \param sums  buffers whose accesses are ignored
bool has_independent_iterations(Stmt root, const tir::For& loop, const std::set<BufferRef>& sums = {});

}  // namespace relaxc::schedule
