// tile_sums.cpp: see tile_sums.h.
//
// Instructions that add the products of all lanes of two vectors to a general register leave each sum in a register of
// its own, while consumers of the sums, such as rescaling, are cheapest in vectors. So sums are in two buffers: `own`
// while terms are added, which is never accessed by vectors, so that each element becomes a register; then `complete`,
// which is written by elements and read by vectors.
#include "compiler/schedule/primitives/tile_sums.h"

#include <bit>

#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;
using tir::Indices;
using tir::LoopKind;

namespace {

constexpr TileBounds kMostSums{.rows = 8, .columns = 16};
constexpr int64_t kMostSumLanes = 16;

/// Generates the code of one tile.
class TileOfSums {
 public:
  TileOfSums(Context& context, const For* row, const For& column, const SumTile& tile, int64_t lanes)
      : context_(context),
        build_(context),
        row_(row),
        column_(column),
        tile_(tile),
        lanes_(lanes),
        rows_(row == nullptr ? 1 : *row->extent.constant()),
        columns_(*column.extent.constant()),
        own_(
            build_.buffer("own", tile.sum->dtype, {context.index(rows_), context.index(columns_)}, tir::Scope::kLocal)),
        complete_(build_.buffer("complete", tile.sum->dtype, own_->shape, tir::Scope::kLocal)) {}

  Stmt make() {
    const Stmt begin = over_sums([&](Expr r, Expr c) { return build_.store(own_, {r, c}, tile_.init); });
    const Stmt sums =
        with_sums(context_, tile_, [&](const Block& block, Expr value) { return next_terms(block, value); });
    const Stmt end = over_sums([&](Expr r, Expr c) {
      return build_.store(complete_, {r, c}, build_.load(own_, {r, c}));
    });
    return build_.alloc(own_, build_.alloc(complete_, build_.seq({begin, sums, end, behind()})));
  }

 private:
  Stmt over_sums(const std::function<Stmt(Expr, Expr)>& body) {
    return copies_of(build_, "c", columns_,
                     [&](Expr c) { return copies_of(build_, "r", rows_, [&](Expr r) { return body(r, c); }); });
  }

  /// One step of all sums of the tile.
  Stmt next_terms(const Block& block, Expr value) {
    return over_sums([&](Expr r, Expr c) {
      Block sum = block;
      sum.id = 0;
      const Expr own = build_.load(own_, {r, c});
      sum.body = build_.store(own_, {r, c}, own + arith::substitute(value, place_in_tile(row_, column_, r, c)));
      return build_.block(std::move(sum));
    });
  }

  /// The code after the sums: vectors along rows, then the remaining columns.
  Stmt behind() {
    const int64_t whole = lanes_ > 1 ? columns_ / lanes_ : 0;
    const auto element = [&](Expr r, Expr c) {
      return after_sum(context_, tile_, complete_, {r, c}, place_in_tile(row_, column_, r, c));
    };
    return copies_of(build_, "r", rows_, [&](Expr r) {
      std::vector<Stmt> of_row;
      if (whole > 0)
        of_row.push_back(copies_of(build_, "v", whole, [&](Expr v) {
          return build_.loop(
              "lane", context_.index(lanes_), [&](Var lane) { return element(r, v * lanes_ + lane); },
              LoopKind::kVectorized);
        }));
      for (int64_t c = whole * lanes_; c < columns_; ++c) of_row.push_back(element(r, context_.index(c)));
      return build_.seq(std::move(of_row));
    });
  }

  Context& context_;
  tir::Builder build_;
  const For* row_;
  const For& column_;
  const SumTile& tile_;
  const int64_t lanes_, rows_, columns_;
  const BufferRef own_, complete_;
};

}  // namespace

Legal<TileSums::Facts> TileSums::legal(const Tree& tree) const {
  RELAXC_REQUIRE(lanes >= 1 && lanes <= kMostSumLanes && std::has_single_bit(static_cast<uint64_t>(lanes)),
                 "vectors have 1, 2, 4, 8 or 16 lanes");
  return find_sum_tile(
      tree, row, column, kMostSums, [](Expr) { return true; }, "numbers");
}

TileSums::Made TileSums::apply(Tree& tree, const Facts& facts) const {
  const For along = tree.loop(column);
  const uint32_t outermost = row != 0 ? row.id : column.id;
  tree.edit_loop(outermost, [&](const For& from) {
    return TileOfSums(tree.context(), row != 0 ? &from : nullptr, along, facts, lanes).make();
  });
  return Done{};
}

}  // namespace relaxc::schedule
