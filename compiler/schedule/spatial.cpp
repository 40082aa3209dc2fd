// spatial.cpp: the rule for nests without a reduction.
//
// These are bound by memory; what matters is that every load and store is a whole vector. Axes that stand side by side
// in all operands become one, so that a last dim of 3 does not leave 13 of 16 lanes empty.
#include "compiler/analysis/pattern.h"
#include "compiler/schedule/access.h"
#include "compiler/schedule/rule_parts.h"

namespace relaxc::schedule {

Stmt schedule_spatial(Context& context, Stmt nest_stmt, const Target& target, std::string& trace) {
  analysis::Nest nest = analysis::as_nest(nest_stmt);
  int64_t lanes = lanes_of(target, nest_stmt);
  if (lanes < 2 || nest.loops.empty() || !is_normal(nest) || nest.block->init) return {};
  Schedule s(context, nest_stmt);
  uint32_t block = nest.block->id;
  std::vector<uint32_t> loops;
  for (const tir::For* loop : nest.loops) loops.push_back(loop->id);
  s.bind_axes();
  fuse_neighbours(s, loops);
  const auto& store = *s.block(block).body.as<tir::Store>();
  const tir::For& last = s.loop(loops.back());
  if (step_of(store.buffer, store.indices, last.var) != 1 || last.extent.is_constant(1)) return {};
  s.stage_loads(block, 0);
  SplitLoops split = s.split(loops.back(), lanes, tail_of(target));
  if (split.inner == 0) return {};
  s.vectorize(split.inner);
  trace += s.trace();
  return s.root();
}

}  // namespace relaxc::schedule
