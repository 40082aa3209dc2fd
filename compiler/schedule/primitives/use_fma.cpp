// use_fma.cpp: see use_fma.h.
#include "compiler/schedule/primitives/use_fma.h"

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::Block;

Legal<UseFma::Facts> UseFma::legal(const Tree& tree) const {
  const auto* store = tree.block(block).body.as<tir::Store>();
  return store == nullptr ? Update{} : update_of(*store);
}

UseFma::Made UseFma::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  tree.edit_block(block, [&](const Block& from) {
    const auto& store = *from.body.as<tir::Store>();
    const arith::Mul& product = *fusible_product(facts);
    Block fused = from;
    fused.body = build.store(store.buffer, store.indices,
                             arith::call(arith::Intrinsic::k_fma, {product.a, product.b, facts.own}));
    return make_stmt(tree.context(), std::move(fused));
  });
  return Done{};
}

}  // namespace relaxc::schedule
