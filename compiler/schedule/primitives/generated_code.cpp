// generated_code.cpp: see generated_code.h.
#include "compiler/schedule/primitives/generated_code.h"

#include <algorithm>

#include "compiler/arith/walks.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

Stmt in_locals(Context& context, const std::vector<BufferRef>& locals, const std::vector<Stmt>& body) {
  tir::Builder build(context);
  std::vector<Stmt> parts;
  for (BufferRef local : locals) parts.push_back(build.store(local, {}, context.zero(local->dtype)));
  parts.insert(parts.end(), body.begin(), body.end());
  Stmt s = build.seq(std::move(parts));
  for (size_t i = locals.size(); i-- > 0;) s = build.alloc(locals[i], s);
  return s;
}

Stmt store_where(Context& context, Expr condition, Var var, Stmt body) {
  if (!condition) return body;
  tir::Builder build(context);
  for (bool in_lanes : {true, false}) {
    Expr all;
    for (Expr one : arith::conjuncts(condition))
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
    if (std::find(group.non_escaping.begin(), group.non_escaping.end(), results[i]) == group.non_escaping.end())
      all.push_back(whole("store", build.store(results[i], at, build.load(locals[i], {}))));
  return in_locals(context, locals, all);
}

}  // namespace relaxc::schedule
