// bind_axes.cpp: see bind_axes.h.
#include "compiler/schedule/primitives/bind_axes.h"

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::Block;

Legal<BindAxes::Facts> BindAxes::legal(const Tree&) const {
  return Done{};
}

BindAxes::Made BindAxes::apply(Tree& tree, const Facts&) const {
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    const auto* block = s.as<Block>();
    if (block == nullptr || block->iters.empty() || block->init) return s;
    Block bound = *block;
    arith::Substitution map = bindings(*block);
    bound.body = tir::substitute(tree.context(), bound.body, map);
    if (bound.predicate) bound.predicate = arith::substitute(bound.predicate, map);
    bound.iters.clear(), bound.reads.clear(), bound.writes.clear();
    return make_stmt(tree.context(), std::move(bound));
  };
  tree.set_root(tir::rewrite(tree.context(), tree.root(), rewriter));
  return Done{};
}

}  // namespace relaxc::schedule
