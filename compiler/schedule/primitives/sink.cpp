// sink.cpp: see sink.h.
#include "compiler/schedule/primitives/sink.h"

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/primitives/jam.h"

namespace relaxc::schedule {

Legal<Sink::Facts> Sink::legal(const Tree& tree) const {
  return is_jammable(tree, loop);
}

Sink::Made Sink::apply(Tree& tree, const Facts&) const {
  tree.edit_loop(loop, [&](const tir::For& from) { return jammed(tree.context(), from, false); });
  return Done{};
}

}  // namespace relaxc::schedule
