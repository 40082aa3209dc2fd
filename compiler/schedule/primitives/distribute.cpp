// distribute.cpp: see distribute.h.
#include "compiler/schedule/primitives/distribute.h"

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::For;

Legal<Distribute::Facts> Distribute::legal(const Tree& tree) const {
  RELAXC_LEGAL(is_parallelizable(tree, loop));
  RELAXC_REQUIRE(tasks > 1 && tasks <= 4096, "the number of tasks must be 2 to 4096");
  RELAXC_REQUIRE(tree.loop(loop).loop_kind == tir::LoopKind::kSerial, "only a serial loop can be distributed");
  return Done{};
}

Distribute::Made Distribute::apply(Tree& tree, const Facts&) const {
  uint32_t inner_id = 0;
  tree.edit_loop(loop, [&](const For& from) {
    Var task = tree.context().var("task"), own = tree.context().var(from.var.name());
    Expr share = arith::ceildiv(from.extent, tasks);
    Expr left =
        arith::max(tree.context().index(0), from.extent - task * share);  // the last tasks may have nothing to do
    const Stmt body = tir::substitute(tree.context(), from.body, {{from.var, from.min + task * share + own}});
    For inner = new_loop(tree.context(), own, arith::min(share, left), body);
    For outer = new_loop(tree.context(), task, arith::simplify(arith::min(tree.context().index(tasks), from.extent)),
                         make_stmt(tree.context(), std::move(inner)));
    outer.loop_kind = tir::LoopKind::kParallel;
    inner_id = outer.body.as<For>()->id;
    return make_stmt(tree.context(), std::move(outer));
  });
  return inner_id;
}

}  // namespace relaxc::schedule
