// sum_tile.h: a tile of sums, as the steps that keep its sums in registers of their own find it.
#pragma once

#include <functional>
#include <string_view>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// What is in a loop over the columns of a tile: {sum = init; sum += value in loops; what follows}, with a sum of its
/// own.
struct SumTile {
  std::vector<BufferRef> locals = {};  ///< of an element of the result
  BufferRef sum = nullptr;             ///< one of them
  Expr init = {};
  std::vector<Stmt> sums = {};    ///< the loops of the sum, one after the other
  std::vector<Expr> values = {};  ///< what each adds up
  std::vector<Stmt> after = {};   ///< what follows
};

struct TileBounds {
  int64_t rows = 1, columns = 1;
};

/// \param row, column  loops of known extents, one directly inside of the other (row 0: one row)
/// \param most         extents that the step takes
/// \param adds         which sums it takes, and what they are for a message
Legal<SumTile> find_sum_tile(const Tree& tree, LoopId row, LoopId column, const TileBounds& most,
                             const std::function<bool(Expr)>& adds, std::string_view sums);

/// What follows the sum at one place of the tile, which reads it as element `from` of `sums`.
Stmt after_sum(Context& context, const SumTile& tile, BufferRef sums, const tir::Indices& from,
               const arith::Substitution& at);

/// Where a row and a column of the tile are in its two loops; `row` null: there is one row.
arith::Substitution place_in_tile(const tir::For* row, const tir::For& column, Expr r, Expr c);

/// The loops of the sum with `f(block, value)` in the place of each block, which adds `value`.
Stmt with_sums(Context& context, const SumTile& tile,
               const std::function<Stmt(const tir::Block& block, Expr value)>& f);

/// A loop of copies; the body itself if there is one iteration.
Stmt copies_of(tir::Builder& build, const char* name, int64_t count, const std::function<Stmt(Expr)>& body);

}  // namespace relaxc::schedule
