// reassociate.cpp: see reassociate.h.
#include "compiler/schedule/primitives/reassociate.h"

#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::Block;

Legal<Reassociate::Facts> Reassociate::legal(const Tree& tree) const {
  return tree.block(block).annotations.count("reassociate") != 0;
}

Reassociate::Made Reassociate::apply(Tree& tree, const Facts&) const {
  tree.edit_block(block, [&](const Block& from) {
    Block to = from;
    to.annotations["reassociate"] = 1;
    return make_stmt(tree.context(), std::move(to));
  });
  return Done{};
}

}  // namespace relaxc::schedule
