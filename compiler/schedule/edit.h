// edit.h: finding and replacing by id; internal to the primitives.
#pragma once

#include "compiler/schedule/schedule.h"
#include "compiler/tir/visit.h"

namespace relaxc::schedule {

/// Replaces the loop `id` by what `f` makes of it (after everything inside it was rebuilt).
template <typename F>
void Schedule::edit_loop(uint32_t id, F f) {
  bool found = false;
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    const auto* node = s.as<tir::For>();
    if (node == nullptr || node->id != id) return s;
    found = true;
    return f(*node);
  };
  root_ = tir::rewrite(context_, root_, rewriter);
  RELAXC_CHECK(found, "a schedule names a loop that does not exist");
}

template <typename F>
void Schedule::edit_block(uint32_t id, F f) {
  bool found = false;
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    const auto* node = s.as<tir::Block>();
    if (node == nullptr || node->id != id) return s;
    found = true;
    return f(*node);
  };
  root_ = tir::rewrite(context_, root_, rewriter);
  RELAXC_CHECK(found, "a schedule names a block that does not exist");
}

/// Conditions that `and` joins.
std::vector<Expr> conjuncts(Expr condition);

/// `e` where `condition` holds: max(0, p) and min(p, n - 1) are p if the condition says so of this very p.
Expr without_clamps(Expr e, Expr condition);

template <typename T>
Stmt make_stmt(Context& context, T node) {
  return Stmt(context.arena().make<T>(std::move(node)));
}

/// Replaces accesses of `from`: `f` gives the new subscripts; the buffer becomes `to`.
template <typename F>
Stmt redirect(Context& context, Stmt s, BufferRef from, BufferRef to, F f) {
  tir::Rewriter rewriter;
  rewriter.on_expr = [&](Expr e) {
    return arith::rewrite(e, [&](Expr node) {
      const auto* load = node.as<arith::Load>();
      if (load == nullptr || load->buffer != from) return node;
      auto indices = f(load->indices);
      return indices ? context.load(to, load->dtype, *indices) : node;
    });
  };
  rewriter.on_stmt = [&](Stmt stmt) {
    const auto* store = stmt.as<tir::Store>();
    if (store == nullptr || store->buffer != from) return stmt;
    auto indices = f(store->indices);
    if (!indices) return stmt;
    tir::Store moved = *store;
    moved.buffer = to, moved.indices = *indices;
    return make_stmt(context, std::move(moved));
  };
  return tir::rewrite(context, s, rewriter);
}

}  // namespace relaxc::schedule
