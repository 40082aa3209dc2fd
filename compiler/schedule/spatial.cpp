// spatial.cpp: the rule for nests without a reduction.
//
// These are bound by memory; what matters is that every load and store is a whole vector. Axes that stand side by side
// in all operands become one, so that a last dim of 3 does not leave 13 of 16 lanes empty.
#include "compiler/analysis/pattern.h"
#include "compiler/schedule/access.h"
#include "compiler/schedule/rule_parts.h"

namespace relaxc::schedule {

namespace {

/// Fewer iterations than half a vector has lanes, and what they read lies apart: lane by lane in a vector would cost
/// more than one by one.
bool is_short_gather(const Schedule& s, uint32_t block, const tir::For& loop, int64_t lanes) {
  const int64_t* extent = loop.extent.constant();
  if (extent == nullptr || *extent * 2 >= lanes) return false;
  bool apart = false;
  for_each_access(Stmt(&s.block(block)), [&](const Access& access) {
    std::optional<int64_t> step = step_of(access.buffer, access.indices, loop.var);
    apart |= !access.is_store && (!step || *step > 1 || *step < 0);
  });
  return apart;
}

}  // namespace

Stmt schedule_spatial(Context& context, Stmt nest_stmt, const Target& target, const arith::Facts& facts,
                      std::string& trace) {
  analysis::Nest nest = analysis::as_nest(nest_stmt);
  int64_t lanes = lanes_of(target, nest_stmt);
  if (lanes < 2 || nest.loops.empty() || !is_normal(nest) || nest.block->init) return {};
  Schedule s(context, nest_stmt, facts);
  uint32_t block = nest.block->id;
  std::vector<uint32_t> loops;
  for (const tir::For* loop : nest.loops) loops.push_back(loop->id);
  s.bind_axes();
  fuse_neighbours(s, loops);
  const auto& store = *s.block(block).body.as<tir::Store>();
  const tir::For& last = s.loop(loops.back());
  if (step_of(store.buffer, store.indices, last.var) != 1 || last.extent.is_constant(1)) return {};
  if (is_short_gather(s, block, last, lanes)) return {};
  s.stage_loads(block, 0);
  SplitLoops split = s.split(loops.back(), lanes, tail_of(target));
  if (split.inner == 0) return {};
  s.vectorize(split.inner);
  trace += s.trace();
  return s.root();
}

}  // namespace relaxc::schedule
