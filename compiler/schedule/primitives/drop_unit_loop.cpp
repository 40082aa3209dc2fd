// drop_unit_loop.cpp: see drop_unit_loop.h.
#include "compiler/schedule/primitives/drop_unit_loop.h"

#include "compiler/schedule/primitives/conditions.h"

namespace relaxc::schedule {

using tir::For;

Legal<DropUnitLoop::Facts> DropUnitLoop::legal(const Tree& tree) const {
  RELAXC_LEGAL(has_plain_body(tree, loop));
  RELAXC_REQUIRE(tree.loop(loop).extent.is_constant(1), "only a loop of one iteration can be removed");
  return Done{};
}

DropUnitLoop::Made DropUnitLoop::apply(Tree& tree, const Facts&) const {
  tree.edit_loop(loop, [&](const For& from) {
    return tir::substitute(tree.context(), from.body, {{from.var, from.min}});
  });
  return Done{};
}

}  // namespace relaxc::schedule
