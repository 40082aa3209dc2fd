// kernel.h: schedules a prim func by strategies, or replays a trace.
#pragma once

#include "compiler/arith/facts.h"
#include "compiler/schedule/explanation.h"
#include "compiler/schedule/options.h"
#include "compiler/schedule/packing.h"
#include "compiler/support/result.h"
#include "compiler/tir/prim_func.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// Schedules every nest of the kernel that a strategy has a plan for. The attribute `schedule` records the steps; the
/// attribute `choices`, if any, the decisions and their options (strategies/parts/knobs.h). Returns false if nothing
/// changed.
///
/// \param constants  parameters that are constants at every call. The caller must pack those that `packed` lists
///                   afterwards: the kernel has packed parameters in their place.
/// \param facts      facts about the kernel's symbols that hold at every call
/// \param explanation  receives the strategies that were considered; may be null
bool schedule_kernel(arith::Context& context, tir::PrimFunc& kernel, const Target& target,
                     const std::vector<tir::BufferRef>& constants, std::vector<PackedParam>& packed,
                     const arith::Facts& facts = {}, const ScheduleOptions& options = {},
                     KernelExplanation* explanation = nullptr);
/// The same without constants, so that no operand is packed.
bool schedule_kernel(arith::Context& context, tir::PrimFunc& kernel, const Target& target);

/// Applies these steps (trace.h) to the kernel, and nothing else; the attribute `schedule` records them.
///
/// \param sources  receives the text of the steps, to which messages point
/// Fails (invalid_value, at the step) if a step cannot be done, and leaves the kernel as it was.
Status replay_kernel(arith::Context& context, tir::PrimFunc& kernel, const std::vector<tir::BufferRef>& constants,
                     std::vector<PackedParam>& packed, const arith::Facts& facts, const TextSpan& steps,
                     Sources& sources, Diagnostics& diag);

}  // namespace relaxc::schedule
