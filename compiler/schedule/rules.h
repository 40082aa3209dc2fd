// rules.h: which primitives a kernel gets, by its structure and the target.
#pragma once

#include <string>

#include "compiler/schedule/choices.h"
#include "compiler/schedule/schedule.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// A nest that computes each element once: vectorized along the axis that is contiguous in the result, after all axes
/// that are contiguous everywhere have become one. Null: no rule fits. `trace` gets what was done.
Stmt schedule_spatial(Context& context, Stmt nest, const Target& target, const arith::Facts& facts, std::string& trace);

/// A reduction and its element-wise consumers, as the nests of one sequence.
struct ReductionGroup {
  Stmt reduction;                 ///< a perfect nest, spatial loops outside of reduction loops
  std::vector<Stmt> consumers;    ///< nests over the same spatial axes, reading the group's results at their own index
  std::vector<BufferRef> unseen;  ///< results that nothing outside of the group reads
  /// Parameters that are constants at every call and that only the group reads: the rule may have them packed.
  std::vector<BufferRef> constants;
  bool may_allocate = true;  ///< somebody gives the kernel scratch memory
};

/// A tile of the result in registers, one axis in vector lanes, one unrolled; consumers are applied to the tile. Where
/// only the reduction axis is contiguous, that axis goes into lanes instead, and the order of the reduction changes.
/// Null: no rule fits. `choices` is asked where several ways give the same bits.
Stmt schedule_reduction(Context& context, const ReductionGroup& group, const Target& target, const arith::Facts& facts,
                        std::string& trace, std::vector<PackedParam>& packed, Choices& choices);

/// A pool: a reduction of nothing but the windows of one operand, by a row of the result after the other. Changes the
/// order of the reduction. Null: it is none.
Stmt schedule_pool(Context& context, const ReductionGroup& group, const Target& target, const arith::Facts& facts,
                   std::string& trace);

/// A convolution by filters of three rows, one step apart, with constant weights, done with fewer multiplications by
/// minimal filtering F(m, 3), m at most `most_results`: changes the order of the sums and their rounding (winograd.h
/// has the bound). Null: it is none, or directly it takes no longer.
Stmt schedule_winograd(Context& context, const ReductionGroup& group, const Target& target, const arith::Facts& facts,
                       int64_t most_results, std::string& trace, std::vector<PackedParam>& packed, Choices& choices);

/// Nests one after the other over the same rows become one loop over rows, or over a few rows at a time, where no row
/// depends on another. Bits stay.
std::vector<Stmt> merge_rows(Context& context, std::vector<Stmt> parts, const Target& target, std::string& trace);

/// Outer loops whose work is worth the start of a task become parallel, in pieces that do not depend on the number of
/// threads. `body` is a whole kernel's, after all other rules.
Stmt schedule_parallel(Context& context, Stmt body, const Target& target, std::string& trace);

/// What running `s` once takes, roughly.
double nanoseconds(Stmt s, const Target& target);

/// Among how many tasks `times` runs of `body` are worth sharing, if they may run at the same time; 1: none.
int64_t tasks_worth(Stmt body, Expr times, const Target& target);

}  // namespace relaxc::schedule
