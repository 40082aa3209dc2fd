// simplify_subscripts.cpp: see simplify_subscripts.h.
#include "compiler/schedule/primitives/simplify_subscripts.h"

#include <optional>

#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::Indices;

Legal<SimplifySubscripts::Facts> SimplifySubscripts::legal(const Tree&) const {
  return Done{};
}

SimplifySubscripts::Made SimplifySubscripts::apply(Tree& tree, const Facts&) const {
  const arith::Facts facts = facts_of_loops(tree.root());
  tree.set_root(redirect(tree.context(), tree.root(), buffer, buffer, [&](const Indices& from) {
    Indices to;
    for (Expr index : from) to.push_back(arith::simplify(index, facts));
    return std::optional(to);
  }));
  return Done{};
}

}  // namespace relaxc::schedule
