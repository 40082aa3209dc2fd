// reorder.cpp: see reorder.h.
#include "compiler/schedule/primitives/reorder.h"

#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::For;

namespace {

std::vector<size_t> places_in(const std::vector<const For*>& chain, const std::vector<uint32_t>& order) {
  std::vector<size_t> places;
  for (uint32_t id : order)
    places.push_back(static_cast<size_t>(
        std::find_if(chain.begin(), chain.end(), [&](const For* node) { return node->id == id; }) - chain.begin()));
  return places;
}

}  // namespace

Legal<Reorder::Facts> Reorder::legal(const Tree& tree) const {
  std::vector<const For*> chain = perfect_nest(tree, order);
  RELAXC_REQUIRE(!chain.empty(), "loops that are not directly nested cannot be reordered");
  for (const For* loop : chain) RELAXC_LEGAL(is_in_order(tree, loop->id));
  RELAXC_REQUIRE(may_reorder(tree.context(), tree.root(), chain, places_in(chain, order)),
                 "in this order an iteration would need what a later one makes; a reduction's order changes after "
                 "'reassociate'");
  return chain;
}

bool can_reorder(const Tree& tree, const std::vector<uint32_t>& order, uint32_t marked) {
  const std::vector<const For*> chain = perfect_nest(tree, order);
  return !chain.empty() && may_reorder(tree.context(), tree.root(), chain, places_in(chain, order), marked);
}

Reorder::Made Reorder::apply(Tree& tree, const Facts& facts) const {
  const std::vector<const For*>& chain = facts;
  tree.edit_loop(chain[0]->id, [&](const For&) {
    Stmt s = chain.back()->body;
    for (size_t i = order.size(); i-- > 0;) {
      For moved = **std::find_if(chain.begin(), chain.end(), [&](const For* node) { return node->id == order[i]; });
      moved.body = s;
      s = make_stmt(tree.context(), std::move(moved));
    }
    return s;
  });
  return Done{};
}

}  // namespace relaxc::schedule
