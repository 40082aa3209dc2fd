// reduce_in_lanes.cpp: see reduce_in_lanes.h.
#include "compiler/schedule/primitives/reduce_in_lanes.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;

namespace {

Legal<> sums_into_one_element(const Tree& tree, const Block& from, const For& loop) {
  RELAXC_LEGAL(is_marked(tree, from.id));
  RELAXC_LEGAL(is_in_order(tree, loop.id));
  const auto* store = from.body.as<tir::Store>();
  const auto* inner = loop.body.as<Block>();
  bool sums = store != nullptr && !from.init && from.iters.empty() && !from.predicate && inner != nullptr &&
              inner->id == from.id && loop.loop_kind == tir::LoopKind::kSerial && update_of(*store).value;
  for (size_t i = 0; sums && i < store->indices.size(); ++i) sums = !depends_on(store->indices[i], loop.var);
  RELAXC_REQUIRE(sums, fmt::format("block '{}' is not all that loop '{}' holds, or it does not sum into one element",
                                   from.name, loop_name(tree, loop.id)));
  return Done{};
}

}  // namespace

Legal<ReduceInLanes::Facts> ReduceInLanes::legal(const Tree& tree) const {
  RELAXC_LEGAL(sums_into_one_element(tree, tree.block(block), tree.loop(loop)));
  auto is_power = [](int64_t n) { return n > 0 && n <= 256 && (n & (n - 1)) == 0; };
  RELAXC_REQUIRE(is_power(lanes) && is_power(vector), "lanes are a power of two, up to 256");
  return Done{};
}

ReduceInLanes::Made ReduceInLanes::apply(Tree& tree, const Facts&) const {
  const Block from = tree.block(block);
  tir::Builder build(tree.context());
  tree.edit_loop(loop, [&](const For& along) {
    const auto& store = *from.body.as<tir::Store>();
    Update update = update_of(store);
    DType dtype = store.buffer->dtype;
    BufferRef part = build.buffer("partial", dtype, {tree.context().index(lanes)}, tir::Scope::kLocal);
    auto combine = [&](Expr a, Expr b) { return tree.context().binary(update.kind, a, b); };
    bool idempotent = update.kind == arith::ExprKind::kMin || update.kind == arith::ExprKind::kMax;
    Expr neutral = idempotent ? update.own : tree.context().number(dtype, update.kind == arith::ExprKind::kMul ? 1 : 0);
    auto vector_loop = [&](int64_t width, const std::function<Stmt(Var)>& body) {
      return build.loop("lane", tree.context().index(width), body, tir::LoopKind::kVectorized);
    };
    auto add_into = [&](Expr lane, Expr at) {
      Expr value = arith::substitute(update.value, {{along.var, at}}), own = build.load(part, {lane});
      const auto* product = fma && fusible_product(update) != nullptr ? value.as<arith::Mul>() : nullptr;
      if (product == nullptr) return build.store(part, {lane}, combine(own, value));
      return build.store(part, {lane}, arith::call(arith::Intrinsic::k_fma, {product->a, product->b, own}));
    };
    std::vector<Stmt> steps{vector_loop(lanes, [&](Var v) { return build.store(part, {v}, neutral); })};
    Expr done = along.min, left = along.extent;
    for (int64_t width : lanes > vector ? std::vector{lanes, vector} : std::vector{lanes}) {
      Expr count = arith::floordiv(left, width);
      steps.push_back(build.loop(along.var.name() + "_o", count, [&](Var o) {
        return vector_loop(width, [&](Var v) { return add_into(v, done + o * width + v); });
      }));
      done = arith::simplify(done + count * width), left = arith::simplify(left - count * width);
    }
    steps.push_back(
        build.loop(along.var.name() + "_t", left, [&](Var t) { return add_into(tree.context().index(0), done + t); }));
    for (int64_t half = lanes / 2; half > 0; half /= 2)
      steps.push_back(vector_loop(half, [&](Var v) {
        return build.store(part, {v}, combine(build.load(part, {v}), build.load(part, {v + half})));
      }));
    Block joined = from;
    joined.body =
        build.store(store.buffer, store.indices, combine(update.own, build.load(part, {tree.context().index(0)})));
    steps.push_back(make_stmt(tree.context(), std::move(joined)));
    return build.alloc(part, build.seq(std::move(steps)));
  });
  return Done{};
}

}  // namespace relaxc::schedule
