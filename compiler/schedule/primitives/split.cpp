// split.cpp: see split.h.
#include "compiler/schedule/primitives/split.h"

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::For;

namespace {

/// Removes branches that the remainder of a split loop never takes, such as those after the border of an image.
Stmt without_dead_branches(Context& context, Stmt s, const arith::Facts& facts) {
  return tir::rewrite(context, s,
                      {.on_expr = {},
                       .on_stmt =
                           [&](Stmt inner) {
                             const auto* branch = inner.as<tir::If>();
                             bool dead =
                                 branch != nullptr && arith::decide(branch->condition, facts) == arith::Truth::kFalse;
                             return dead ? branch->else_body : inner;
                           },
                       .on_buffer = {}});
}

}  // namespace

Legal<Split::Facts> Split::legal(const Tree& tree) const {
  RELAXC_LEGAL(is_in_order(tree, loop));
  RELAXC_REQUIRE(factor > 0, "a loop is split by a number of at least 1");
  bool whole_tiles = arith::divisor(arith::simplify(tree.loop(loop).extent), tree.facts()) % factor == 0;
  if (tail == Tail::kMask && !whole_tiles) RELAXC_LEGAL(is_maskable(tree, loop));
  return Done{};
}

Split::Made Split::apply(Tree& tree, const Facts&) const {
  SplitLoops made;
  tir::Builder build(tree.context());
  tree.edit_loop(loop, [&](const For& from) {
    const std::string& name = from.var.name();
    Var o = tree.context().var(name + "_o"), i = tree.context().var(name + "_i");
    Expr extent = arith::simplify(from.extent), width = tree.context().index(factor);
    auto nest = [&](Expr count, Stmt body) {
      For inner = new_loop(tree.context(), i, width,
                           tir::substitute(tree.context(), body, {{from.var, from.min + o * factor + i}}));
      For outer = new_loop(tree.context(), o, count, {});
      outer.loop_kind = from.loop_kind;
      made.inner = inner.id, made.outer = outer.id;
      outer.body = make_stmt(tree.context(), std::move(inner));
      return make_stmt(tree.context(), std::move(outer));
    };
    bool fits = arith::divisor(extent, tree.facts()) % factor == 0;
    if (fits) return nest(arith::floordiv(extent, factor), from.body);
    if (tail == Tail::kMask) {
      Expr inside = arith::lt(from.var, from.min + extent);
      const Stmt body = masked(tree.context(), from.body, from.var, inside);
      return nest(arith::ceildiv(extent, factor), body);
    }
    Expr whole = arith::floordiv(extent, factor);
    std::vector<Stmt> parts;
    if (!whole.is_constant(0)) parts.push_back(nest(whole, from.body));
    Var t = tree.context().var(name + "_t");
    Stmt rest = tir::substitute(tree.context(), fresh_copy(tree.context(), from.body, made.copies),
                                {{from.var, from.min + whole * factor + t}});
    Expr left_over = arith::floormod(extent, factor);
    arith::Facts facts = facts_of_loops(tree.root());
    if (left_over.constant() != nullptr) facts.bound(t, {0, *left_over.constant() - 1});
    For last = new_loop(tree.context(), t, left_over, without_dead_branches(tree.context(), rest, facts));
    last.loop_kind = from.loop_kind;
    made.tail = last.id;
    parts.push_back(make_stmt(tree.context(), std::move(last)));
    return build.seq(std::move(parts));
  });
  return made;
}

}  // namespace relaxc::schedule
