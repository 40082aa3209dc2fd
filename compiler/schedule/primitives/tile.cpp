// tile.cpp: see tile.h.
#include "compiler/schedule/primitives/tile.h"

#include <fmt/format.h>

#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

Legal<Tile::Facts> Tile::legal(const Tree& tree) const {
  const std::vector<const tir::For*> chain = perfect_nest(tree, loops);
  RELAXC_REQUIRE(
      !chain.empty() && loops.size() == sizes.size() && chain[0]->id == loops[0],
      fmt::format("{} are not directly nested loops, or do not have one size each", loop_names(tree, loops)));
  Tree tiled = tree;
  std::vector<uint32_t> order, within;
  for (size_t i = 0; i < loops.size(); ++i) {
    RELAXC_STEP(const SplitLoops made, schedule::apply(tiled, Split{loops[i], sizes[i], Tail::kMask}));
    order.push_back(made.outer), within.push_back(made.inner);
  }
  order.insert(order.end(), within.begin(), within.end());
  RELAXC_LEGAL(schedule::apply(tiled, Reorder{order}));
  tiled.set_trace(tree.trace());
  return tiled;
}

Tile::Made Tile::apply(Tree& tree, const Facts& facts) const {
  tree = facts;
  return Done{};
}

}  // namespace relaxc::schedule
