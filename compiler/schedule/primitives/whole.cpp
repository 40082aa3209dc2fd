// whole.cpp: see whole.h.
#include "compiler/schedule/primitives/whole.h"

namespace relaxc::schedule {

Legal<FocusWhole::Facts> FocusWhole::legal(const Tree& tree) const {
  return static_cast<bool>(tree.focused().whole);
}

FocusWhole::Made FocusWhole::apply(Tree& tree, const Facts&) const {
  tree.leave_focus();
  return Done{};
}

}  // namespace relaxc::schedule
