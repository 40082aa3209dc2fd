// rule_parts.cpp: see rule_parts.h.
#include "compiler/schedule/strategies/rule_parts.h"

#include <algorithm>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/fuse.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/vectorize.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

int64_t lanes_of(const Target& target, Stmt s) {
  int32_t bits = 8;
  for_each_access(s, [&](const Access& access) { bits = std::max<int32_t>(bits, access.buffer->dtype.bits); });
  // Narrow elements are mostly computed as 32 bits.
  return target.vector_bits == 0 ? 1 : std::max(target.lanes(std::max(bits, 32)), 1);
}

Tail tail_of(const Target& target) {
  return target.masks_cheaply() ? Tail::kMask : Tail::kPeel;
}

bool is_normal(const analysis::Nest& nest) {
  if (nest.block == nullptr || nest.block->iters.size() != nest.loops.size()) return false;
  std::vector<Expr> unbound;
  for (const tir::For* loop : nest.loops) {
    if (!loop->min.is_constant(0) || loop->loop_kind != tir::LoopKind::kSerial) return false;
    for (const tir::For* other : nest.loops)
      if (depends_on(loop->extent, other->var)) return false;
    unbound.push_back(loop->var);
  }
  for (const tir::IterVar& iter : nest.block->iters) {
    auto found = std::find(unbound.begin(), unbound.end(), iter.binding);
    if (found == unbound.end() || !iter.min.is_constant(0)) return false;
    unbound.erase(found);
  }
  return true;
}

std::vector<Var> own_axes(const analysis::Nest& nest) {
  std::vector<Var> axes;
  for (const tir::IterVar& iter : nest.block->iters)
    if (iter.iter_kind == tir::IterKind::kSpatial) axes.push_back(iter.var);
  bool own = std::equal(axes.begin(), axes.end(), nest.store->indices.begin(), nest.store->indices.end(),
                        [](Var axis, Expr index) { return index == axis; });
  return own ? axes : std::vector<Var>{};
}

Legal<> fuse_neighbours(Tree& s, std::vector<uint32_t>& loops) {
  for (size_t i = loops.size(); i-- > 1;) {
    if (!can_fuse(s.loop(loops[i - 1]), s.loop(loops[i]))) continue;
    RELAXC_STEP(loops[i - 1], apply(s, Fuse{loops[i - 1], loops[i]}));
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return Done{};
}

Legal<> vectorize_whole(Tree& s, uint32_t loop, int64_t lanes, const Target& target) {
  RELAXC_STEP(SplitLoops whole, apply(s, Split{loop, lanes, Tail::kPeel}));
  if (whole.inner != 0) RELAXC_LEGAL(apply(s, Vectorize{whole.inner}));
  if (whole.tail == 0) return Done{};
  RELAXC_STEP(SplitLoops rest, apply(s, Split{whole.tail, lanes, tail_of(target)}));
  if (rest.inner != 0) RELAXC_LEGAL(apply(s, Vectorize{rest.inner}));
  return Done{};
}

Stmt in_locals(Context& context, const std::vector<BufferRef>& locals, const std::vector<Stmt>& body) {
  tir::Builder build(context);
  std::vector<Stmt> parts;
  for (BufferRef local : locals) parts.push_back(build.store(local, {}, context.zero(local->dtype)));
  parts.insert(parts.end(), body.begin(), body.end());
  Stmt s = build.seq(std::move(parts));
  for (size_t i = locals.size(); i-- > 0;) s = build.alloc(locals[i], s);
  return s;
}

Stmt where(Context& context, Expr condition, Var var, Stmt body) {
  if (!condition) return body;
  tir::Builder build(context);
  for (bool in_lanes : {true, false}) {
    Expr all;
    for (Expr one : conjuncts(condition))
      if (depends_on(one, var) == in_lanes) all = all ? arith::logical_and(all, one) : one;
    if (all) body = build.branch(all, body);
  }
  return body;
}

Stmt element_of(Context& context, const ReductionGroup& group, BufferRef result, const tir::Indices& at, Expr value) {
  tir::Builder build(context);
  auto whole = [&](const char* name, Stmt body) {
    tir::Block block;
    block.name = name;
    block.body = body;
    return build.block(std::move(block));
  };
  std::vector<Stmt> parts{whole("result", build.store(result, at, value))};
  std::vector<BufferRef> results{result}, locals;
  for (Stmt consumer : group.consumers) {
    analysis::Nest nest = analysis::as_nest(consumer);
    arith::Substitution axes;
    for (size_t a = 0; a < at.size(); ++a) axes[nest.block->iters[a].var] = at[a], axes[nest.loops[a]->var] = at[a];
    parts.push_back(whole("consumer", tir::substitute(context, nest.block->body, axes)));
    results.push_back(nest.store->buffer);
  }
  Stmt body = build.seq(std::move(parts));
  for (BufferRef one : results) {
    locals.push_back(build.buffer(one->name + "_local", one->dtype, {}, tir::Scope::kLocal));
    body =
        redirect(context, body, one, locals.back(), [](const tir::Indices&) { return std::optional(tir::Indices{}); });
  }
  std::vector<Stmt> all{body};
  for (size_t i = 0; i < results.size(); ++i)
    if (std::find(group.unseen.begin(), group.unseen.end(), results[i]) == group.unseen.end())
      all.push_back(whole("store", build.store(results[i], at, build.load(locals[i], {}))));
  return in_locals(context, locals, all);
}

}  // namespace relaxc::schedule
