// pair_terms.cpp: see pair_terms.h.
#include "compiler/schedule/primitives/pair_terms.h"

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;

Legal<PairTerms::Facts> PairTerms::legal(const Tree& tree) const {
  const For& pair = tree.loop(loop);
  RELAXC_REQUIRE(pair.extent.is_constant(2) && pair.loop_kind == tir::LoopKind::kSerial,
                 "the loop has not two iterations, one after the other");
  const auto* inner = pair.body.as<Block>();
  RELAXC_REQUIRE(inner != nullptr && inner->id == block && inner->iters.empty() && !inner->init && !inner->predicate,
                 "the block is not all that the loop does, or has axes of its own");
  const auto* store = inner->body.as<tir::Store>();
  const Update update = store != nullptr ? update_of(*store) : Update{};
  RELAXC_REQUIRE(update.value && update.kind == arith::ExprKind::kAdd && store->buffer->dtype.is_integer(),
                 "the block sums no integers");
  bool same = true;
  for (Expr index : store->indices) same &= !depends_on(index, pair.var);
  RELAXC_REQUIRE(same, "the two iterations do not add to one sum");
  return Done{};
}

PairTerms::Made PairTerms::apply(Tree& tree, const Facts&) const {
  tree.edit_loop(loop, [&](const For& from) {
    Context& context = tree.context();
    Block sum = *from.body.as<Block>();
    const auto& store = *sum.body.as<tir::Store>();
    const Update update = update_of(store);
    const auto term = [&](int64_t i) {
      const Expr at = arith::simplify(from.min + i);
      return arith::substitute(update.value, {{from.var, at}});
    };
    tir::Builder build(context);
    sum.body = build.store(store.buffer, store.indices, update.own + (term(0) + term(1)));
    return make_stmt(context, std::move(sum));
  });
  return Done{};
}

}  // namespace relaxc::schedule
