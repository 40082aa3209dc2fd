// estimate.h: how long statements take, roughly.
#pragma once

#include "compiler/schedule/tree/tree.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// What a symbolic extent is taken to be.
inline constexpr double kUnknownExtent = 16;

/// Iterations of the loop; vectors, where it is vectorized.
double extent_of(const tir::For& loop, int64_t lanes);

/// What running `s` once takes, roughly.
double nanoseconds(Stmt s, const Target& target);
/// The same for vectors of `lanes`.
double nanoseconds(Stmt s, int64_t lanes, const MachineModel& model);

/// What running `s` once takes in cycles, if nothing waits for memory: of each statement, operations or accesses by
/// their throughput, whichever take longer. Loops of open extents count once. `lanes`: of vectorized loops.
double cycles_of(Stmt s, int64_t lanes, const MachineModel& model);

/// Terms of all sums of the nest; loops of open extents count once.
double terms_of(Stmt nest);

/// Nanoseconds of work that make a task.
double min_task_nanoseconds(const Target& target);

/// Among how many tasks `times` runs of `body` are worth sharing, if they may run at the same time; 1: none.
int64_t profitable_tasks(Stmt body, Expr times, const Target& target);

}  // namespace relaxc::schedule
