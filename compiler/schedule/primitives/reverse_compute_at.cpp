// reverse_compute_at.cpp: see reverse_compute_at.h.
#include "compiler/schedule/primitives/reverse_compute_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;

namespace {

/// The statements between that of the loop and `last`, which comes after it in the same sequence; nullopt if it does
/// not.
std::optional<std::vector<Stmt>> between(Stmt root, uint32_t loop, Stmt last) {
  std::optional<std::vector<Stmt>> found;
  tir::for_each_stmt(root, [&](Stmt s) {
    const auto* seq = s.as<tir::Seq>();
    if (seq == nullptr) return;
    auto end = std::find(seq->body.begin(), seq->body.end(), last);
    auto begin = std::find_if(seq->body.begin(), end, [&](Stmt one) {
      const auto* node = one.as<For>();
      return node != nullptr && node->id == loop;
    });
    if (end != seq->body.end() && begin != end) found.emplace(begin + 1, end);
  });
  return found;
}

/// Whether one of the statements writes memory that the other one accesses.
bool may_meet(const Tree& s, Stmt a, Stmt b) {
  bool meet = false;
  for_each_access(a, [&](const Access& one) {
    for_each_access(b, [&](const Access& other) {
      meet |= (one.is_store || other.is_store) && s.memory_of(one.buffer) == s.memory_of(other.buffer);
    });
  });
  return meet;
}

/// Whether iterations of the loops of `chain` stay independent with `moved` at the end of their bodies.
bool stays_independent(const Tree& tree, const std::vector<const For*>& chain, Stmt moved) {
  tir::Builder build(tree.context());
  Stmt body = build.seq({chain.back()->body, moved});
  for (size_t i = chain.size(); i-- > 0;) {
    For loop = *chain[i];
    loop.body = body;
    body = make_stmt(tree.context(), std::move(loop));
  }
  std::vector<const For*> made;
  for (const For* at = body.as<For>(); made.size() < chain.size(); at = at->body.as<For>()) made.push_back(at);
  return are_independent(tree.context(), tree.root(), made);
}

}  // namespace

Legal<ReverseComputeAt::Facts> ReverseComputeAt::legal(const Tree& tree) const {
  const Stmt nest = nest_around(tree.root(), block);
  RELAXC_REQUIRE(static_cast<bool>(nest), "no nest of its own is around block " + block_name(tree, block));
  analysis::Nest consumer = analysis::as_nest(nest);
  const std::vector<const For*> chain = perfect_nest(tree, axes);
  bool fits = !chain.empty() && axes.back() == loop && chain.back()->id == loop && is_plain(chain[0]->body) &&
              consumer.loops.size() == axes.size() && consumer.block->iters.empty() && is_plain(nest);
  for (size_t i = 0; fits && i < axes.size(); ++i) {
    fits &= chain[i]->id == axes[i] && arith::prove_equal(consumer.loops[i]->extent, chain[i]->extent);
    fits &= arith::prove_equal(consumer.loops[i]->min, chain[i]->min);
  }
  RELAXC_REQUIRE(fits, fmt::format("block '{}' is not in loops over the same range as {}, or its axes are not bound",
                                   block_name(tree, block), loop_names(tree, axes)));
  const std::optional<std::vector<Stmt>> passed = between(tree.root(), axes[0], nest);
  RELAXC_REQUIRE(passed.has_value(), fmt::format("the nest of block '{}' is not after loop '{}'",
                                                 block_name(tree, block), loop_name(tree, axes[0])));
  for (Stmt other : *passed)
    RELAXC_REQUIRE(!may_meet(tree, other, nest), "a statement between the loop and the nest accesses the same memory");
  arith::Substitution map;
  for (size_t i = 0; i < axes.size(); ++i) map[consumer.loops[i]->var] = chain[i]->var;
  Stmt moved = tir::substitute(tree.context(), Stmt(consumer.block), map);
  RELAXC_REQUIRE(stays_independent(tree, chain, moved),
                 fmt::format("block '{}' needs elements that {} have not computed yet in the same iteration",
                             block_name(tree, block), loop_names(tree, axes)));
  return Facts{nest, moved};
}

ReverseComputeAt::Made ReverseComputeAt::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  tir::Rewriter drop;
  drop.on_stmt = [&](Stmt s) { return s == facts.nest ? Stmt() : s; };
  tree.set_root(tir::rewrite(tree.context(), tree.root(), drop));
  tree.edit_loop(loop, [&](const For& from) {
    For to = from;
    to.body = build.seq({from.body, facts.moved});
    return make_stmt(tree.context(), std::move(to));
  });
  return Done{};
}

}  // namespace relaxc::schedule
