// edit.h: building and replacing parts of a tree; what primitives have in common.
#pragma once

#include <map>

#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// What happens to the iterations that do not fill a whole tile. kPeel: a loop of their own. kMask: one more tile whose
/// surplus iterations do nothing that can be seen: their stores are predicated, and so are their loads from memory.
enum class Tail : uint8_t { kPeel, kMask };

/// Loops and blocks, and the copies of them that a primitive made.
struct Copies {
  std::map<uint32_t, uint32_t> loops, blocks;
};

/// A loop from 0 with an id of its own.
tir::For new_loop(Context& context, Var var, Expr extent, Stmt body);
/// Everything that `s` binds gets a new identity.
Stmt fresh_copy(Context& context, Stmt s, Copies& copies);
/// Stores to memory, and what reads memory at places that depend on `var`, happen only where `condition` holds. Some
/// iteration of a tile always does, so loads that all of them make alike stay outside of the condition.
Stmt masked(Context& context, Stmt s, Var var, Expr condition);
/// A view outside of all loops if its base exists there, so that it is in the way of no step; else right where the base
/// begins.
void add_view(Tree& tree, BufferRef view, BufferRef base);
void set_loop_kind(Tree& tree, uint32_t loop, tir::LoopKind kind);

// ---- questions that editing asks

/// The greatest number that is known to divide the extent of the loop.
int64_t known_divisor(const Tree& tree, uint32_t loop);
/// These loops, outermost first, if they are directly inside of each other; else nothing.
std::vector<const tir::For*> perfect_nest(const Tree& tree, const std::vector<uint32_t>& loops);
/// Loops that `loop` is in, of what is in focus.
std::vector<const tir::For*> loops_around(const Tree& tree, uint32_t loop);
/// Whether a loop around `loop`, in focus or not, is of this kind.
bool is_inside_loop(const Tree& tree, uint32_t loop, tir::LoopKind kind);
/// Where the variables of all loops are.
arith::Facts facts_of_loops(Stmt root);

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
