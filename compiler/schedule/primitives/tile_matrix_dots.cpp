// tile_matrix_dots.cpp: see tile_matrix_dots.h.
//
// smmla adds, to four int32 that are two rows by two columns, the products of two rows of eight bytes by two columns of
// eight. So a block of sums is a vector whose lane l is of row l / 2 and column l % 2; the backend recognizes the
// instruction in a plain loop over four lanes that each sum eight products. The instruction for mixed signs needs
// unsigned rows; if the rows are signed and the columns are not, they are exchanged, and so are the two in a lane.
#include "compiler/schedule/primitives/tile_matrix_dots.h"

#include "compiler/arith/dot.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;
using tir::Indices;
using tir::LoopKind;

namespace {

constexpr TileBounds kMostOfMatrix{.rows = 16, .columns = 64};
constexpr int64_t kLanes = 4;  ///< lanes of a block of 2x2

bool is_unsigned(Expr widened) {
  return widened.as<arith::Cast>()->value.dtype().is_uint();
}

/// Generates the code of one tile.
class MatrixTile {
 public:
  MatrixTile(Context& context, const For* row, const For& column, const TileMatrixDots::Facts& facts)
      : context_(context),
        build_(context),
        row_(row),
        column_(column),
        facts_(facts),
        rows_(row == nullptr ? 1 : *row->extent.constant()),
        columns_(*column.extent.constant()),
        sums_(build_.buffer("sums", facts.sum->dtype,
                            {context.index((rows_ + 1) / 2), context.index((columns_ + 1) / 2), context.index(kLanes)},
                            tir::Scope::kLocal)) {}

  Stmt make() {
    const Stmt zero = over_blocks([&](Expr i, Expr j, Expr lane) {
      return build_.store(sums_, {i, j, lane}, facts_.init);
    });
    const Stmt sums =
        with_sums(context_, facts_, [&](const Block& block, Expr value) { return blocks_of(block, value); });
    return build_.alloc(sums_, build_.seq({zero, sums, behind()}));
  }

 private:
  Stmt over_blocks(const std::function<Stmt(Expr, Expr, Expr)>& body) {
    return copies_of(build_, "i", (rows_ + 1) / 2, [&](Expr i) {
      return copies_of(build_, "j", (columns_ + 1) / 2, [&](Expr j) {
        return build_.loop(
            "lane", context_.index(kLanes), [&](Var lane) { return body(i, j, lane); }, LoopKind::kVectorized);
      });
    });
  }

  /// One step of all sums of the tile.
  Stmt blocks_of(const Block& block, Expr value) {
    return over_blocks([&](Expr i, Expr j, Expr lane) {
      const Expr outer = arith::floordiv(lane, 2), inner = arith::floormod(lane, 2);
      Expr row = i * 2 + (facts_.columns_first ? inner : outer),
           column = j * 2 + (facts_.columns_first ? outer : inner);
      if (rows_ % 2 != 0) row = arith::min(row, context_.index(rows_ - 1));
      Block sum = block;
      sum.id = 0;
      const Expr own = build_.load(sums_, {i, j, lane});
      sum.body =
          build_.store(sums_, {i, j, lane}, own + arith::substitute(value, place_in_tile(row_, column_, row, column)));
      return build_.block(std::move(sum));
    });
  }

  /// The code after the sums: vectors along rows, then the remaining columns.
  Stmt behind() {
    const int64_t whole = columns_ / kLanes;
    return copies_of(build_, "r", rows_, [&](Expr r) {
      std::vector<Stmt> of_row;
      if (whole > 0)
        of_row.push_back(copies_of(build_, "c", whole, [&](Expr c) {
          return build_.loop(
              "lane", context_.index(kLanes),
              [&](Var lane) {
                const Expr place = c * kLanes + lane, half = arith::floormod(lane, 2);
                return element(r, c * 2 + arith::floordiv(lane, 2), half, place);
              },
              LoopKind::kVectorized);
        }));
      for (int64_t c = whole * kLanes; c < columns_; ++c)
        of_row.push_back(element(r, context_.index(c / 2), context_.index(c % 2), context_.index(c)));
      return build_.seq(std::move(of_row));
    });
  }

  Stmt element(Expr r, Expr block, Expr side, Expr column) {
    const Expr half = arith::floormod(r, 2);
    const Expr lane = facts_.columns_first ? side * 2 + half : half * 2 + side;
    const Indices from{arith::simplify(arith::floordiv(r, 2)), block, arith::simplify(lane)};
    return after_sum(context_, facts_, sums_, from, place_in_tile(row_, column_, r, column));
  }

  Context& context_;
  tir::Builder build_;
  const For* row_;
  const For& column_;
  const TileMatrixDots::Facts& facts_;
  const int64_t rows_, columns_;
  const BufferRef sums_;
};

}  // namespace

Legal<TileMatrixDots::Facts> TileMatrixDots::legal(const Tree& tree) const {
  const auto is_dot = [](Expr value) { return arith::as_dot8(value).has_value(); };
  RELAXC_STEP(SumTile tile, find_sum_tile(tree, row, column, kMostOfMatrix, is_dot, "products of eight bytes"));
  const std::optional<arith::Dot8> dot = arith::as_dot8(tile.values[0]);
  return Facts{std::move(tile), !is_unsigned(dot->a[0]) && !dot->signed_b};
}

TileMatrixDots::Made TileMatrixDots::apply(Tree& tree, const Facts& facts) const {
  const For along = tree.loop(column);
  const uint32_t outermost = row != 0 ? row.id : column.id;
  tree.edit_loop(outermost, [&](const For& from) {
    return MatrixTile(tree.context(), row != 0 ? &from : nullptr, along, facts).make();
  });
  return Done{};
}

}  // namespace relaxc::schedule
