// deduplicate_scheduled_kernels.cpp: merges scheduled kernels that differ only in sizes.
//
// Layers of one kind have the same loops with other extents. If an extent is an argument, a kernel can neither be tiled
// along that dim nor can its constants be packed: 40% to 260% more instructions were counted on Cortex-M4. Once all
// kernels are scheduled, extents of tiles are the same in all of them, and those of the loops around them may become
// arguments.
//
// Rejected: one kernel at all levels above -Os. Offsets that are arguments take registers, of which inner loops have
// too few, and no pass of LLVM sees how often a loop runs.
#include "compiler/transform/graph/fusion/kernel_merging.h"
#include "compiler/transform/passes.h"

namespace relaxc {

Result<Changed> deduplicate_scheduled_kernels(relax::Module& module, PassContext& context) {
  const int64_t most = context.option(kDeduplicateScheduledSizes);
  return most == 0 ? Changed::kNo : merge_kernels_of_sizes(module, context, static_cast<size_t>(most));
}

}  // namespace relaxc
