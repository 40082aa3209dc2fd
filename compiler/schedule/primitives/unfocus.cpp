// unfocus.cpp: see unfocus.h.
#include "compiler/schedule/primitives/unfocus.h"

namespace relaxc::schedule {

Legal<Unfocus::Facts> Unfocus::legal(const Tree& tree) const {
  return static_cast<bool>(tree.focused().whole);
}

Unfocus::Made Unfocus::apply(Tree& tree, const Facts&) const {
  tree.leave_focus();
  return Done{};
}

}  // namespace relaxc::schedule
