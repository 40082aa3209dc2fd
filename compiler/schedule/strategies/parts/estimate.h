// estimate.h: estimates of how long statements take.
#pragma once

#include "compiler/schedule/tree/tree.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// The value that estimates use for a symbolic extent.
inline constexpr double kUnknownExtent = 16;

/// The iterations of the loop, or its vectors if it is vectorized.
double extent_of(const tir::For& loop, int64_t lanes);

/// Estimated nanoseconds of running `s` once.
double nanoseconds(Stmt s, const Target& target);
/// The same for vectors of `lanes` lanes.
double nanoseconds(Stmt s, int64_t lanes, const MachineModel& model);

/// Estimated cycles of running `s` once without waiting for memory: for each statement the throughput of its operations
/// or of its accesses, whichever takes longer. Loops of open extents count once.
///
/// \param lanes  of the vectors in vectorized loops
double cycles_of(Stmt s, int64_t lanes, const MachineModel& model);

/// The number of terms of all sums of the nest; loops of open extents count once.
double terms_of(Stmt nest);

/// The least work of a task, in nanoseconds, for which a thread is worth waking.
double min_task_nanoseconds(const Target& target);

/// The number of tasks into which `times` concurrent runs of `body` are worth dividing; 1 if they are not.
int64_t profitable_tasks(Stmt body, Expr times, const Target& target);

}  // namespace relaxc::schedule
