// collapse.cpp: see collapse.h.
#include "compiler/schedule/primitives/collapse.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;

Legal<Collapse::Facts> Collapse::legal(const Tree& tree) const {
  const For& around = tree.loop(outer);
  const auto* nested = around.body.as<For>();
  RELAXC_LEGAL(is_in_order(tree, outer));
  RELAXC_LEGAL(is_in_order(tree, inner));
  RELAXC_REQUIRE(nested != nullptr && nested->id == inner && !depends_on(nested->extent, around.var) &&
                     !depends_on(nested->min, around.var),
                 fmt::format("loop '{}' is not all that '{}' holds", loop_name(tree, inner), loop_name(tree, outer)));
  if (around.loop_kind == tir::LoopKind::kParallel) RELAXC_LEGAL(runs_together(tree, inner));
  RELAXC_REQUIRE(nested->loop_kind == tir::LoopKind::kSerial, "the inner loop is parallel");
  return Done{};
}

Collapse::Made Collapse::apply(Tree& tree, const Facts&) const {
  uint32_t made_id = 0;
  tree.edit_loop(outer, [&](const For& around) {
    const auto* nested = around.body.as<For>();
    Var p = tree.context().var(around.var.name() + nested->var.name());
    Stmt body = tir::substitute(tree.context(), nested->body,
                                {{around.var, around.min + arith::floordiv(p, nested->extent)},
                                 {nested->var, nested->min + arith::floormod(p, nested->extent)}});
    For made = new_loop(tree.context(), p, arith::simplify(around.extent * nested->extent), body);
    made.loop_kind = around.loop_kind;
    made_id = made.id;
    return make_stmt(tree.context(), std::move(made));
  });
  return made_id;
}

}  // namespace relaxc::schedule
