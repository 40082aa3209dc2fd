// rules.h: which primitives a kernel gets, by its structure and the target.
#pragma once

#include <string>

#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/strategies/choices.h"
#include "compiler/schedule/tree/tree.h"
#include "targets/target.h"

namespace relaxc::schedule {

// Each rule takes on what is in focus. False: it does not fit; illegal: a step of it was refused. In both cases nothing
// is to be taken from what it did.

/// A nest that computes each element once: vectorized along the axis that is contiguous in the result, after all axes
/// that are contiguous everywhere have become one.
Legal<bool> schedule_spatial(Tree& s, const Target& target);

/// A tile of the result in registers, one axis in vector lanes, one unrolled; consumers are applied to the tile. Where
/// only the reduction axis is contiguous, that axis goes into lanes instead, and the order of the reduction changes.
/// `choices` is asked where several ways give the same bits. `room`: there may be scratch memory, and constants may be
/// packed.
Legal<bool> schedule_reduction(Tree& s, const ReductionGroup& group, const Target& target, bool room, Choices& choices);

/// A pool: a reduction of nothing but the windows of one operand, by a row of the result after the other. Changes the
/// order of the reduction.
Legal<bool> schedule_pool(Tree& s, const ReductionGroup& group, const Target& target);

/// A convolution by filters of three rows, one step apart, with constant weights, done with fewer multiplications by
/// minimal filtering F(m, 3), m at most `most_results`: changes the order of the sums and their rounding (winograd.h
/// has the bound). False also if directly it takes no longer.
Legal<bool> schedule_winograd(Tree& s, const ReductionGroup& group, const Target& target, int64_t most_results,
                              Choices& choices);

/// The row loops of nests one after the other, in order (0: it is no such nest), become one loop over the same rows, or
/// over a few rows at a time, where no row depends on another. Bits stay.
Legal<> schedule_rows(Tree& s, const std::vector<uint32_t>& loops, const Target& target);

/// Outer loops whose work is worth the start of a task become parallel, in pieces that do not depend on the number of
/// threads, after all other rules. `done`: loops that have been looked at.
Legal<> schedule_parallel(Tree& s, const Target& target, const std::vector<uint32_t>& done);

/// What running `s` once takes, roughly.
double nanoseconds(Stmt s, const Target& target);

/// Among how many tasks `times` runs of `body` are worth sharing, if they may run at the same time; 1: none.
int64_t tasks_worth(Stmt body, Expr times, const Target& target);

}  // namespace relaxc::schedule
