// jam_inner.cpp: see jam_inner.h.
#include "compiler/schedule/primitives/jam_inner.h"

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/primitives/jam.h"

namespace relaxc::schedule {

Legal<JamInner::Facts> JamInner::legal(const Tree& tree) const {
  return is_jammable(tree, loop);
}

JamInner::Made JamInner::apply(Tree& tree, const Facts&) const {
  tree.edit_loop(loop, [&](const tir::For& from) { return jammed(tree.context(), from, false); });
  return Done{};
}

}  // namespace relaxc::schedule
