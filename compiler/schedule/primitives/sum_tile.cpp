// sum_tile.cpp: see sum_tile.h.
#include "compiler/schedule/primitives/sum_tile.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;

namespace {

/// The store inside of a nest of loops and blocks; null if the innermost statement is another one.
const tir::Store* innermost_store(Stmt s) {
  while (s) {
    if (const auto* loop = s.as<For>())
      s = loop->body;
    else if (const auto* block = s.as<Block>(); block != nullptr && block->iters.empty() && !block->init)
      s = block->body;
    else
      return s.as<tir::Store>();
  }
  return nullptr;
}

/// The value that a nest adds to the sum; null if it does something else.
Expr value_added(Stmt nest, BufferRef sum) {
  const tir::Store* store = innermost_store(nest);
  if (store == nullptr || store->buffer != sum) return {};
  const Update update = update_of(*store);
  return update.kind == arith::ExprKind::kAdd ? update.value : Expr();
}

Legal<> has_rows(const Tree& tree, LoopId row, LoopId column, int64_t most) {
  if (row == 0) return Done{};
  const int64_t* rows = tree.loop(row).extent.constant();
  RELAXC_REQUIRE(rows != nullptr && *rows >= 1 && *rows <= most, fmt::format("a tile has 1 to {} rows", most));
  RELAXC_REQUIRE(perfect_nest(tree, {row, column}).size() == 2,
                 "the loop over columns is not directly inside of the one over rows");
  RELAXC_LEGAL(is_in_order(tree, row));
  return runs_together(tree, row);
}

}  // namespace

Legal<SumTile> find_sum_tile(const Tree& tree, LoopId row, LoopId column, const TileBounds& most,
                             const std::function<bool(Expr)>& adds, std::string_view sums) {
  const For& along = tree.loop(column);
  const int64_t* columns = along.extent.constant();
  RELAXC_REQUIRE(columns != nullptr && *columns >= 1 && *columns <= most.columns,
                 fmt::format("a tile has 1 to {} columns", most.columns));
  RELAXC_LEGAL(is_in_order(tree, column));
  RELAXC_LEGAL(runs_together(tree, column));
  RELAXC_LEGAL(has_rows(tree, row, column, most.rows));
  SumTile tile;
  Stmt body = along.body;
  for (const auto* alloc = body.as<tir::Alloc>(); alloc != nullptr; alloc = body.as<tir::Alloc>())
    tile.locals.push_back(alloc->buffer), body = alloc->body;
  std::vector<Stmt> parts{body};
  if (const auto* seq = body.as<tir::Seq>()) parts = seq->body;
  const tir::Store* init = innermost_store(parts[0]);
  RELAXC_REQUIRE(init != nullptr && init->value.constant() != nullptr && init->indices.empty() &&
                     std::count(tile.locals.begin(), tile.locals.end(), init->buffer) == 1,
                 "columns do not begin a sum of their own with a number");
  tile.sum = init->buffer, tile.init = init->value;
  size_t next = 1;
  for (; next < parts.size(); ++next) {
    const Expr value = value_added(parts[next], tile.sum);
    if (!value || !adds(value)) break;
    tile.sums.push_back(parts[next]), tile.values.push_back(value);
  }
  RELAXC_REQUIRE(!tile.sums.empty() && next < parts.size(),
                 fmt::format("columns do not hold a sum of {} and what follows", sums));
  tile.after.assign(parts.begin() + static_cast<std::ptrdiff_t>(next), parts.end());
  bool stored = false;
  for (Stmt s : tile.after)
    for_each_access(s, [&](const Access& access) { stored |= access.is_store && access.buffer == tile.sum; });
  RELAXC_REQUIRE(!stored, "the sum is stored to again");
  return tile;
}

Stmt after_sum(Context& context, const SumTile& tile, BufferRef sums, const tir::Indices& from,
               const arith::Substitution& at) {
  tir::Builder build(context);
  Stmt s = build.seq(tile.after);
  for (BufferRef local : tile.locals)
    if (local != tile.sum) s = build.alloc(local, s);
  s = redirect(context, s, tile.sum, sums, [&](const tir::Indices&) { return std::optional(from); });
  Copies copies;
  return tir::substitute(context, fresh_copy(context, s, copies), at);
}

arith::Substitution place_in_tile(const For* row, const For& column, Expr r, Expr c) {
  arith::Substitution places{{column.var, arith::simplify(column.min + c)}};
  if (row != nullptr) places[row->var] = arith::simplify(row->min + r);
  return places;
}

Stmt with_sums(Context& context, const SumTile& tile, const std::function<Stmt(const Block& block, Expr value)>& f) {
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    const auto* block = s.as<Block>();
    const auto* store = block != nullptr ? block->body.as<tir::Store>() : nullptr;
    return store != nullptr && store->buffer == tile.sum ? f(*block, update_of(*store).value) : s;
  };
  std::vector<Stmt> all;
  for (Stmt s : tile.sums) all.push_back(tir::rewrite(context, s, rewriter));
  tir::Builder build(context);
  return build.seq(std::move(all));
}

Stmt copies_of(tir::Builder& build, const char* name, int64_t count, const std::function<Stmt(Expr)>& body) {
  if (count == 1) return body(build.index(0));
  return build.loop(
      name, build.index(count), [&](Var var) { return body(var); }, tir::LoopKind::kUnrolled);
}

}  // namespace relaxc::schedule
