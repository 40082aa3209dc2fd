// pad_to.cpp: see pad_to.h.
#include "compiler/schedule/primitives/pad_to.h"

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::For;

Legal<PadTo::Facts> PadTo::legal(const Tree& tree) const {
  RELAXC_LEGAL(is_in_order(tree, loop));
  RELAXC_REQUIRE(multiple > 0, "iterations are a multiple of at least 1");
  const bool whole = known_divisor(tree, loop) % multiple == 0;
  if (!whole) RELAXC_LEGAL(is_maskable(tree, loop));
  return Done{};
}

PadTo::Made PadTo::apply(Tree& tree, const Facts&) const {
  if (known_divisor(tree, loop) % multiple == 0) return Done{};
  tree.edit_loop(loop, [&](const For& from) {
    For to = from;
    to.extent = arith::simplify(arith::ceildiv(from.extent, multiple) * multiple);
    to.body = masked(tree.context(), from.body, from.var, arith::lt(from.var, from.min + from.extent));
    return make_stmt(tree.context(), std::move(to));
  });
  return Done{};
}

}  // namespace relaxc::schedule
