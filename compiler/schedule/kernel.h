// kernel.h: scheduling a whole prim func.
#pragma once

#include "compiler/arith/facts.h"
#include "compiler/schedule/explanation.h"
#include "compiler/schedule/options.h"
#include "compiler/schedule/packing.h"
#include "compiler/support/result.h"
#include "compiler/tir/prim_func.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// Gives every nest of the kernel's body the schedule that fits; what no strategy fits stays as it is. The attribute
/// `schedule` records what was done, the attribute `choices`, if there is one, the decisions and their options
/// (strategies/parts/knobs.h). False: nothing changed.
///
/// \param constants  parameters that are constants at every call. Those that `packed` then lists are replaced by packed
///                   ones: the caller has to pass the constant packed so.
/// \param facts      what is known of the kernel's symbols at every call
/// \param explanation  gets which strategies were asked and what they answered; null: not wanted
bool schedule_kernel(arith::Context& context, tir::PrimFunc& kernel, const Target& target,
                     const std::vector<tir::BufferRef>& constants, std::vector<PackedParam>& packed,
                     const arith::Facts& facts = {}, const ScheduleOptions& options = {},
                     KernelExplanation* explanation = nullptr);
/// The same for a kernel whose operands stay as they are.
bool schedule_kernel(arith::Context& context, tir::PrimFunc& kernel, const Target& target);

/// Applies these steps (trace.h) to the kernel, and nothing else; the attribute `schedule` records them.
///
/// \param sources  gets the places that messages point to
/// Fails (invalid_value, at the step) if a step cannot be done, and leaves the kernel as it was.
Status replay_kernel(arith::Context& context, tir::PrimFunc& kernel, const std::vector<tir::BufferRef>& constants,
                     std::vector<PackedParam>& packed, const arith::Facts& facts, const TextSpan& steps,
                     Sources& sources, Diagnostics& diag);

}  // namespace relaxc::schedule
