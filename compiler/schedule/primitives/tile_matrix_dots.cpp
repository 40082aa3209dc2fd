// tile_matrix_dots.cpp: see tile_matrix_dots.h.
//
// smmla adds to four int32, which are two rows by two columns, the products of two rows of eight bytes by two columns
// of eight. So a block of sums is a vector whose lane l is of row l / 2 and column l % 2: of a plain loop over four
// lanes each of which sums eight products, the backend finds the instruction again. The instruction for mixed signs has
// unsigned rows; where the rows are signed and the columns are not, they change places, and so do the two in a lane.
#include "compiler/schedule/primitives/tile_matrix_dots.h"

#include <algorithm>

#include "compiler/arith/dot.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;
using tir::Indices;
using tir::LoopKind;

namespace {

constexpr int64_t kMostRows = 16, kMostColumns = 64;
constexpr int64_t kLanes = 4;  ///< of a block of 2x2

/// The store that a nest of loops and blocks is around; null: it is another statement.
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

std::optional<arith::Dot8> summed_dot(const tir::Store& store) {
  const Update update = update_of(store);
  if (!update.value || update.kind != arith::ExprKind::kAdd || !store.indices.empty()) return {};
  return arith::as_dot8(update.value);
}

bool is_unsigned(Expr widened) {
  return widened.as<arith::Cast>()->value.dtype().is_uint();
}

/// Writes the code of one tile.
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
        sums_(build_.buffer("sums", facts.sum->dtype, blocks(), tir::Scope::kLocal)) {}

  Stmt make() {
    const Stmt zero = over_blocks([&](Expr i, Expr j, Expr lane) {
      return build_.store(sums_, {i, j, lane}, facts_.init);
    });
    tir::Rewriter in_blocks;
    in_blocks.on_stmt = [&](Stmt s) {
      const auto* block = s.as<Block>();
      const auto* store = block != nullptr ? block->body.as<tir::Store>() : nullptr;
      return store != nullptr && store->buffer == facts_.sum ? blocks_of(*block, *store) : s;
    };
    return build_.alloc(sums_, build_.seq({zero, tir::rewrite(context_, facts_.sums, in_blocks), behind()}));
  }

 private:
  std::vector<Expr> blocks() const {
    return {context_.index((rows_ + 1) / 2), context_.index((columns_ + 1) / 2), context_.index(kLanes)};
  }

  Stmt over_blocks(const std::function<Stmt(Expr, Expr, Expr)>& body) {
    const std::vector<Expr> counts = blocks();
    return unrolled("i", counts[0], [&](Expr i) {
      return unrolled("j", counts[1], [&](Expr j) {
        return build_.loop(
            "lane", counts[2], [&](Var lane) { return body(i, j, lane); }, LoopKind::kVectorized);
      });
    });
  }

  Stmt unrolled(const char* name, Expr count, const std::function<Stmt(Expr)>& body) {
    if (count.is_constant(1)) return body(context_.index(0));
    return build_.loop(
        name, count, [&](Var var) { return body(var); }, LoopKind::kUnrolled);
  }

  arith::Substitution at(Expr row, Expr column) const {
    arith::Substitution places{{column_.var, arith::simplify(column_.min + column)}};
    if (row_ != nullptr) places[row_->var] = arith::simplify(row_->min + row);
    return places;
  }

  /// A step of all sums of the tile.
  Stmt blocks_of(const Block& block, const tir::Store& store) {
    const Expr value = update_of(store).value;
    return over_blocks([&](Expr i, Expr j, Expr lane) {
      const Expr outer = arith::floordiv(lane, 2), inner = arith::floormod(lane, 2);
      Expr row = i * 2 + (facts_.columns_first ? inner : outer),
           column = j * 2 + (facts_.columns_first ? outer : inner);
      if (rows_ % 2 != 0) row = arith::min(row, context_.index(rows_ - 1));
      Block sum = block;
      sum.id = 0;
      sum.body = build_.store(sums_, {i, j, lane},
                              build_.load(sums_, {i, j, lane}) + arith::substitute(value, at(row, column)));
      return build_.block(std::move(sum));
    });
  }

  /// What follows the sums: vectors along rows, then what is left of them.
  Stmt behind() {
    const int64_t whole = columns_ / kLanes;
    std::vector<Stmt> parts;
    return unrolled("r", context_.index(rows_), [&](Expr r) {
      std::vector<Stmt> of_row;
      if (whole > 0)
        of_row.push_back(unrolled("c", context_.index(whole), [&](Expr c) {
          return build_.loop(
              "lane", context_.index(kLanes),
              [&](Var lane) {
                return element(r, c * 2 + arith::floordiv(lane, 2), arith::floormod(lane, 2), c * kLanes + lane);
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
    Stmt s = build_.seq(facts_.after);
    for (BufferRef local : facts_.locals)
      if (local != facts_.sum) s = build_.alloc(local, s);
    s = redirect(context_, s, facts_.sum, sums_, [&](const Indices&) { return std::optional(from); });
    Copies copies;
    return tir::substitute(context_, fresh_copy(context_, s, copies), at(r, column));
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
  const For& along = tree.loop(column);
  const int64_t* columns = along.extent.constant();
  RELAXC_REQUIRE(columns != nullptr && *columns >= 1 && *columns <= kMostColumns, "a tile has 1 to 64 columns");
  RELAXC_LEGAL(is_in_order(tree, column));
  RELAXC_LEGAL(runs_together(tree, column));
  if (row != 0) {
    const int64_t* rows = tree.loop(row).extent.constant();
    RELAXC_REQUIRE(rows != nullptr && *rows >= 1 && *rows <= kMostRows, "a tile has 1 to 16 rows");
    RELAXC_REQUIRE(perfect_nest(tree, {row, column}).size() == 2,
                   "the loop over columns is not directly inside of the one over rows");
    RELAXC_LEGAL(is_in_order(tree, row));
    RELAXC_LEGAL(runs_together(tree, row));
  }
  Facts facts;
  Stmt body = along.body;
  for (const auto* alloc = body.as<tir::Alloc>(); alloc != nullptr; alloc = body.as<tir::Alloc>())
    facts.locals.push_back(alloc->buffer), body = alloc->body;
  std::vector<Stmt> parts{body};
  if (const auto* seq = body.as<tir::Seq>()) parts = seq->body;
  const tir::Store* sum = parts.size() > 2 ? innermost_store(parts[1]) : nullptr;
  const std::optional<arith::Dot8> dot = sum != nullptr ? summed_dot(*sum) : std::nullopt;
  const tir::Store* init = innermost_store(parts[0]);
  const bool own = dot && std::count(facts.locals.begin(), facts.locals.end(), sum->buffer) == 1;
  RELAXC_REQUIRE(own && init != nullptr && init->buffer == sum->buffer && init->value.constant() != nullptr,
                 "columns do not hold a sum of products of eight bytes that begins with a number, and what follows");
  facts.sum = sum->buffer, facts.init = init->value, facts.sums = parts[1];
  facts.after.assign(parts.begin() + 2, parts.end());
  for (Stmt s : facts.after)
    for_each_access(s, [&](const Access& access) {
      facts.init = access.is_store && access.buffer == facts.sum ? Expr() : facts.init;
    });
  RELAXC_REQUIRE(facts.init, "the sum is stored to again");
  facts.columns_first = !is_unsigned(dot->a[0]) && !dot->signed_b;
  return facts;
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
