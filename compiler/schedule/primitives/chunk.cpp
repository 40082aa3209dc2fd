// chunk.cpp: see chunk.h.
#include "compiler/schedule/primitives/chunk.h"

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::For;

Legal<Chunk::Facts> Chunk::legal(const Tree& tree) const {
  RELAXC_LEGAL(is_in_order(tree, loop));
  RELAXC_REQUIRE(size > 0, "a chunk has at least 1 iteration");
  return Done{};
}

Chunk::Made Chunk::apply(Tree& tree, const Facts&) const {
  uint32_t outer_id = 0;
  tree.edit_loop(loop, [&](const For& from) {
    const std::string& name = from.var.name();
    Var o = tree.context().var(name + "_c"), i = tree.context().var(name + "_i");
    Expr begin = o * size, left = from.extent - begin;
    const Stmt body = tir::substitute(tree.context(), from.body, {{from.var, from.min + begin + i}});
    For inner = new_loop(tree.context(), i, arith::simplify(arith::min(tree.context().index(size), left)), body);
    const Stmt part = make_stmt(tree.context(), std::move(inner));
    For outer = new_loop(tree.context(), o, arith::simplify(arith::ceildiv(from.extent, size)), part);
    outer.loop_kind = from.loop_kind;
    outer_id = outer.id;
    return make_stmt(tree.context(), std::move(outer));
  });
  return outer_id;
}

}  // namespace relaxc::schedule
