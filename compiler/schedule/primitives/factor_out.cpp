// factor_out.cpp: takes common factors out of a sum.
//
// Weights of few bits have a scale for each block of, say, 32. As defined, the scale multiplies every weight; taken out
// of the sum over a block, it multiplies once for 32 weights. Sums of blocks are rounded at other places than the whole
// sum, so the reduction must be marked.
#include "compiler/schedule/primitives/factor_out.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;

namespace {

/// Whether `e` has the same value in all iterations of the loop and of loops in its body: it reads nothing that is
/// stored there.
bool is_common(Expr e, const For& loop) {
  bool common = !depends_on(e, loop.var);
  tir::for_each_stmt(loop.body, [&](Stmt s) {
    if (const auto* inner = s.as<For>()) common &= !depends_on(e, inner->var);
    if (const auto* store = s.as<tir::Store>())
      arith::for_each_node(e, [&](Expr node) {
        const auto* load = node.as<arith::Load>();
        common &= load == nullptr || load->buffer != store->buffer;
      });
  });
  return common;
}

/// Separates the factors of a product that are the same in all iterations of `loop` from the others; null if there are
/// none. A factor counts as often as it occurs, so repeated squaring makes very many: beyond kMostFactors, all are
/// treated as others.
Factors factors_of(Expr product, const For& loop) {
  constexpr int kMostFactors = 64;
  Factors found;
  std::vector<Expr> pending{product};  // bounded: kMostFactors
  int count = 0;
  while (!pending.empty()) {
    if (++count > 2 * kMostFactors) return {{}, product};
    Expr e = pending.back();
    pending.pop_back();
    if (const auto* both = e.as<arith::Mul>()) {
      pending.push_back(both->b), pending.push_back(both->a);
      continue;
    }
    Expr& part = is_common(e, loop) ? found.common : found.rest;
    part = part ? part * e : e;
  }
  return found;
}

Expr product_of(const Block& block) {
  const auto* store = block.body.as<tir::Store>();
  Update update = store == nullptr ? Update{} : update_of(*store);
  bool sum = update.value && update.kind == arith::ExprKind::kAdd;
  bool wide = sum && update.value.dtype().is_float() && update.value.dtype().bits >= 32;
  return wide && update.value.as<arith::Mul>() != nullptr ? update.value : Expr();
}

/// Requires that the loop contains the block, and that nothing else in it accesses the element that it sums into.
Legal<> is_one_sum(const Tree& tree, const Block& sum, const For& loop) {
  const auto& store = *sum.body.as<tir::Store>();
  size_t blocks = 0, accesses = 0;
  tir::for_each_stmt(loop.body, [&](Stmt s) {
    const auto* inner = s.as<Block>();
    blocks += inner != nullptr && inner->id == sum.id ? 1 : 0;
  });
  for_each_access(loop.body, [&](const Access& access) {
    accesses += tree.memory_of(access.buffer) == tree.memory_of(store.buffer) ? 1 : 0;
  });
  bool one = blocks == 1 && accesses == 2 && !sum.init && !sum.predicate && sum.iters.empty() && is_plain(loop.body);
  for (Expr index : store.indices) one &= !uses_variable_of(index, loop.body) && !depends_on(index, loop.var);
  RELAXC_REQUIRE(one, fmt::format("loop '{}' does not sum by block '{}' into one element alone",
                                  loop_name(tree, loop.id), sum.name));
  return Done{};
}

}  // namespace

Expr common_factor(const Tree& tree, uint32_t block, uint32_t loop) {
  Expr product = product_of(tree.block(block));
  if (!product) return {};
  Factors factors = factors_of(product, tree.loop(loop));
  return factors.rest ? factors.common : Expr();
}

Legal<FactorOut::Facts> FactorOut::legal(const Tree& tree) const {
  RELAXC_LEGAL(is_in_order(tree, loop));
  RELAXC_REQUIRE(static_cast<bool>(common_factor(tree, block, loop)),
                 fmt::format("what block '{}' sums over loop '{}' has no factor that stays the same",
                             block_name(tree, block), loop_name(tree, loop)));
  const Block whole = tree.block(block);
  RELAXC_LEGAL(is_one_sum(tree, whole, tree.loop(loop)));
  return factors_of(product_of(whole), tree.loop(loop));
}

FactorOut::Made FactorOut::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  Block whole = tree.block(block);
  whole.annotations["reassociate"] = 1;
  const auto& store = *whole.body.as<tir::Store>();
  DType dtype = store.buffer->dtype;
  BufferRef part = build.buffer(store.buffer->name + "_part", dtype, {}, tir::Scope::kLocal);
  tree.edit_block(block, [&](const Block&) {
    Block inner = whole;
    inner.body = build.store(part, {}, build.load(part, {}) + facts.rest);
    return make_stmt(tree.context(), std::move(inner));
  });
  Block begin, scaled;
  begin.name = whole.name + "_part_init";
  begin.body = build.store(part, {}, tree.context().zero(dtype));
  scaled.name = whole.name + "_scaled";
  scaled.annotations = whole.annotations;
  scaled.body = build.store(store.buffer, store.indices,
                            build.load(store.buffer, store.indices) + build.load(part, {}) * facts.common);
  Stmt first = build.block(std::move(begin)), last = build.block(std::move(scaled));
  tree.edit_loop(loop, [&](const For& from) { return build.alloc(part, build.seq({first, Stmt(&from), last})); });
  return last.as<Block>()->id;
}

}  // namespace relaxc::schedule
