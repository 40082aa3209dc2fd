// schedule_kernels.h: the pass that schedules kernels.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

inline constexpr PassOption kScheduleWinograd{
    "schedule_kernels.winograd", 4, 0, "most rows that a Winograd tile gives at once: 4, 2, or 0 for no Winograd"};
inline constexpr PassOption kScheduleOnlineSoftmax{"schedule_kernels.online_softmax", 1024, 0,
                                                   "fewest keys that a softmax processes in blocks, or 0 for never"};
inline constexpr PassOption kScheduleSmall{
    "schedule_kernels.small", 0, 0,
    "2: the shortest code; 1: no schedule that needs much more code than another; 0: the fastest"};
inline constexpr PassOption kScheduleKernelsOptions[] = {kScheduleWinograd, kScheduleOnlineSoftmax, kScheduleSmall};

/// Schedules every kernel for the target, by given steps or by strategies. Needs kLegal; gives kScheduled.
Result<Changed> schedule_kernels(relax::Module&, PassContext&);

}  // namespace relaxc
