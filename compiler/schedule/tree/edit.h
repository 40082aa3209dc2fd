// edit.h: building and replacing parts of a tree, shared by primitives.
#pragma once

#include <map>

#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// How the iterations that do not fill a whole tile run. kPeel: in a loop of their own. kMask: in one more tile whose
/// stores and loads from memory are predicated.
enum class Tail : uint8_t { kPeel, kMask };

/// Ids of loops and blocks by those of which a primitive copied them.
struct Copies {
  std::map<uint32_t, uint32_t> loops, blocks;
};

/// A serial loop from 0 with a new id.
tir::For new_loop(Context& context, Var var, Expr extent, Stmt body);
/// A copy of `s` with new variables, loops and blocks; adds their ids to `copies`.
Stmt fresh_copy(Context& context, Stmt s, Copies& copies);
/// Predicates stores, and loads whose subscripts depend on `var`, by `condition`. It holds in some iteration of every
/// tile, so loads that all iterations share need no predicate.
Stmt masked(Context& context, Stmt s, Var var, Expr condition);
/// Adds a view outside of all loops if its base exists there, so that it separates no nested loops; else at the
/// beginning of the base's scope.
void add_view(Tree& tree, BufferRef view, BufferRef base);
void set_loop_kind(Tree& tree, uint32_t loop, tir::LoopKind kind);

// ---- queries

/// The greatest constant that provably divides the loop's extent.
int64_t known_divisor(const Tree& tree, uint32_t loop);
/// These loops, outermost first, if they are perfectly nested; else nothing.
std::vector<const tir::For*> perfect_nest(const Tree& tree, const std::vector<uint32_t>& loops);
/// The loops in focus that contain `loop`.
std::vector<const tir::For*> loops_around(const Tree& tree, uint32_t loop);
/// Whether a loop of this kind contains `loop`, in focus or not.
bool is_inside_loop(const Tree& tree, uint32_t loop, tir::LoopKind kind);
/// The ranges of all loop variables.
arith::Facts facts_of_loops(Stmt root);

/// `e` simplified under `condition`: max(0, p) and min(p, n - 1) become p where the condition bounds the same p.
Expr without_clamps(Expr e, Expr condition);

template <typename T>
Stmt make_stmt(Context& context, T node) {
  return Stmt(context.arena().make<T>(std::move(node)));
}

/// Replaces accesses of `from` by accesses of `to` with the subscripts that `f` returns; leaves those for which it
/// returns nullopt.
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
