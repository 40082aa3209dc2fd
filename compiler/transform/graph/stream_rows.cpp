// stream_rows.cpp: takes less memory than a network's large tensors, by never storing these as a whole.
//
// The problem: the first layers of an image network have few channels and many pixels, so that two of their tensors
// take most of the network's memory. Each row of such a layer needs a few rows of the one before.
//
// The method: the layers of a chain run in turns, a few rows each. A layer keeps the last rows that its readers need
// again, so that nothing is computed twice, and only the chain's first and last tensors are whole. Chains and numbers
// of rows are chosen so that memory fits a budget (--ram-budget) with the fewest copies (choose_chains.h). Then the
// operators of a chain are written out for the rows of each run (row_rewriter.h); fusion, the merging of equal kernels
// and the planner treat that like any program. The pass runs before fusion, which then works on its result, and after
// all passes that look for patterns.
//
// Results keep their bits: maps, windows and products compute each element from the same ones in the same order, and
// sums that are split are of integers. Open dims stay as they are: the number of runs is known when compiling.
//
// Rejected: patches whose borders are computed again for each (MCUNetV2): layers of image classification of MLPerf Tiny
// would compute rows of their first block up to 2.5 times to fit 24 KB. Loops of the host function instead of runs
// written out: the first and last runs differ by their padding, and a call is about 40 bytes.
#include "compiler/transform/graph/streaming/choose_chains.h"
#include "compiler/transform/graph/streaming/row_rewriter.h"
#include "compiler/transform/passes.h"

namespace relaxc {

using namespace relax;

namespace {

/// Rewrites the block with its stages in order and the chosen chains row by row.
Status stream_block(Module& module, PassContext& context, Block& block, const streaming::Stages& stages,
                    const std::vector<streaming::ChosenChain>& chosen) {
  const std::vector<Op*> old = std::move(block.ops);
  block.ops = stages.free_ops();
  GraphBuilder builder(module, context.ops, &block, context.diag);
  auto next = chosen.begin();
  for (size_t i = 0; i < stages.size();) {
    if (next == chosen.end() || next->chain.begin != i) {
      block.ops.insert(block.ops.end(), stages[i].ops.begin(), stages[i].ops.end());
      ++i;
      continue;
    }
    const streaming::RowSchedule schedule(stages, next->chain, next->pace);
    RELAXC_DO(streaming::RowRewriter(builder, stages, next->chain, schedule).run());
    for (size_t k = next->chain.begin; k < next->chain.end; ++k)
      for (Op* op : stages[k].ops) op->block = nullptr;
    i = next->chain.end, ++next;
  }
  return Done{};
}

}  // namespace

Result<Changed> stream_rows(Module& module, PassContext& context) {
  const int64_t budget = context.option(kStreamRowsBudget);
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) {
    if (budget == 0) break;
    for (Block* block : function->body().blocks) {
      if (!block->dataflow) continue;
      const streaming::Stages stages(module.context(), *block);
      const std::vector<streaming::ChosenChain> chosen = streaming::choose_chains(stages, budget);
      if (chosen.empty()) continue;
      RELAXC_DO(stream_block(module, context, *block, stages, chosen));
      changed = Changed::kYes;
    }
  }
  return changed;
}

}  // namespace relaxc
