// split_overlapped.cpp: see split_overlapped.h.
//
// An iteration may run twice if it stores the same values again: no iteration reads what it stores, and no other one
// stores there.
#include "compiler/schedule/primitives/split_overlapped.h"

#include <fmt/format.h>

#include <set>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;

namespace {

/// Whether no memory that outlives an iteration is both read and written.
bool may_repeat(const Tree& tree, const For& loop) {
  std::set<BufferRef> own, read, written;  // never iterated
  tir::for_each_stmt(loop.body, [&](Stmt s) {
    if (const auto* alloc = s.as<tir::Alloc>()) own.insert(alloc->buffer);
  });
  for_each_access(loop.body, [&](const Access& access) {
    const BufferRef memory = tree.memory_of(access.buffer);
    if (own.count(memory) == 0) (access.is_store ? written : read).insert(memory);
  });
  return std::none_of(written.begin(), written.end(), [&](BufferRef b) { return read.count(b) != 0; });
}

}  // namespace

Legal<SplitOverlapped::Facts> SplitOverlapped::legal(const Tree& tree) const {
  RELAXC_LEGAL(is_in_order(tree, loop));
  RELAXC_REQUIRE(factor > 0, "a loop is split by a number of at least 1");
  RELAXC_REQUIRE(rest >= 0 && rest < factor, "what is left beside whole tiles is less than a tile");
  RELAXC_LEGAL(runs_together(tree, loop));
  RELAXC_REQUIRE(tree.loop(loop).loop_kind == tir::LoopKind::kSerial,
                 "two tasks would store to one place; split the parallel loop first");
  RELAXC_REQUIRE(!tree.may_overwrite_operands() && may_repeat(tree, tree.loop(loop)),
                 fmt::format("iterations of loop '{}' cannot be repeated: they read memory that they may have written",
                             loop_name(tree, loop)));
  return Done{};
}

SplitOverlapped::Made SplitOverlapped::apply(Tree& tree, const Facts&) const {
  SplitLoops made;
  Context& context = tree.context();
  tree.edit_loop(loop, [&](const For& from) {
    const std::string& name = from.var.name();
    const Expr extent = arith::simplify(from.extent), width = context.index(factor), zero = context.index(0);
    const bool divides = arith::divisor(extent, tree.facts()) % factor == 0;
    const Expr enough = arith::simplify(arith::le(width, extent), tree.facts());
    const Var o = context.var(name + "_o"), i = context.var(name + "_i"), t = context.var(name + "_t");
    const Expr begin = divides ? o * factor : arith::min(o * factor, extent - factor);
    const Expr all = arith::floordiv(extent + (factor - rest - 1), width);
    const Expr tiles = arith::simplify(divides ? all : arith::select(enough, all, zero));
    For inner = new_loop(context, i, width, tir::substitute(context, from.body, {{from.var, from.min + begin + i}}));
    made.inner = inner.id;
    For outer = new_loop(context, o, tiles, make_stmt(context, std::move(inner)));
    made.outer = outer.id;
    const Stmt whole = make_stmt(context, std::move(outer));
    if (divides || (enough.is_constant(1) && rest == 0)) return whole;
    const Stmt copy = fresh_copy(context, from.body, made.copies);
    const Expr done = tiles * factor,
               left = rest == 0 ? arith::select(enough, zero, extent) : arith::max(extent - done, zero);
    const Stmt body = tir::substitute(context, copy, {{from.var, rest == 0 ? from.min + t : from.min + done + t}});
    For last = new_loop(context, t, arith::simplify(left), body);
    made.tail = last.id;
    return tir::Builder(context).seq({whole, make_stmt(context, std::move(last))});
  });
  return made;
}

}  // namespace relaxc::schedule
