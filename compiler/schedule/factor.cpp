// factor.cpp: factors that a sum has in common, applied once.
//
// Weights of few bits have a scale for each block of, say, 32. Written as they mean it, the scale multiplies every
// weight; taken out of the sum over a block, it multiplies one number in 32. The sums of blocks are rounded at other
// places than the whole sum was, which is why the reduction is marked.
#include <fmt/format.h>

#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/legality.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;

namespace {

/// Whether `e` has one value while the loops inside of `body` and `var` itself run: it reads nothing that is stored
/// there.
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

struct Factors {
  Expr common, rest;
};

/// The factors of a product by whether they stay the same in `loop`; either is null if there are none. A factor counts
/// as often as it occurs, so a power that was made by squaring has very many: from some number on, none are told apart.
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

}  // namespace

Expr Schedule::common_factor(uint32_t block_id, uint32_t loop_id) const {
  Expr product = product_of(block(block_id));
  if (!product) return {};
  Factors factors = factors_of(product, loop(loop_id));
  return factors.rest ? factors.common : Expr();
}

/// The loop holds the block, and nothing else there touches the one element that it sums into.
void Schedule::require_one_sum(const Block& sum, const For& loop) const {
  const auto& store = *sum.body.as<tir::Store>();
  size_t blocks = 0, accesses = 0;
  tir::for_each_stmt(loop.body, [&](Stmt s) {
    const auto* inner = s.as<Block>();
    blocks += inner != nullptr && inner->id == sum.id ? 1 : 0;
  });
  for_each_access(loop.body, [&](const Access& access) {
    accesses += memory_of(access.buffer) == memory_of(store.buffer) ? 1 : 0;
  });
  bool one = blocks == 1 && accesses == 2 && !sum.init && !sum.predicate && sum.iters.empty() && is_plain(loop.body);
  for (Expr index : store.indices) one &= !uses_variable_of(index, loop.body) && !depends_on(index, loop.var);
  require(one, [&] {
    return fmt::format("loop '{}' does not sum by block '{}' into one element alone", loop_name(loop.id), sum.name);
  });
}

uint32_t Schedule::factor_out(uint32_t block_id, uint32_t loop_id) {
  require_in_order(loop_id);
  require(static_cast<bool>(common_factor(block_id, loop_id)), [&] {
    return fmt::format("what block '{}' sums over loop '{}' has no factor that stays the same", block_name(block_id),
                       loop_name(loop_id));
  });
  allow_reassociation(block_id);
  const Block whole = block(block_id);
  const auto& store = *whole.body.as<tir::Store>();
  require_one_sum(whole, loop(loop_id));
  note(fmt::format("factor_out {} {}", block_name(block_id), loop_name(loop_id)));
  Factors factors = factors_of(product_of(whole), loop(loop_id));
  DType dtype = store.buffer->dtype;
  BufferRef part = build_.buffer(store.buffer->name + "_part", dtype, {}, tir::Scope::kLocal);
  edit_block(block_id, [&](const Block&) {
    Block inner = whole;
    inner.body = build_.store(part, {}, build_.load(part, {}) + factors.rest);
    return make_stmt(context_, std::move(inner));
  });
  Block begin, scaled;
  begin.name = whole.name + "_part_init";
  begin.body = build_.store(part, {}, context_.zero(dtype));
  scaled.name = whole.name + "_scaled";
  scaled.annotations = whole.annotations;
  scaled.body = build_.store(store.buffer, store.indices,
                             build_.load(store.buffer, store.indices) + build_.load(part, {}) * factors.common);
  Stmt first = build_.block(std::move(begin)), last = build_.block(std::move(scaled));
  edit_loop(loop_id, [&](const For& from) { return build_.alloc(part, build_.seq({first, Stmt(&from), last})); });
  return last.as<Block>()->id;
}

}  // namespace relaxc::schedule
