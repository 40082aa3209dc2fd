// pool_rows.cpp: see pool_rows.h.
#include "compiler/schedule/primitives/pool_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/window.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/primitives/decompose_reduction.h"
#include "compiler/schedule/primitives/generated_code.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {
namespace {

constexpr int64_t kMostTaps = 32;  ///< outside of a row; they are written out

}  // namespace

class PoolNests {
 public:
  PoolNests(const Tree& s, const ReductionGroup& group)
      : context_(s.context()),
        build_(context_),
        group_(group),
        facts_(s.facts()),
        nest_(analysis::as_nest(group.reduction)),
        s_(context_, group.reduction, facts_) {}

  /// Reads the group; false: it is no pool.
  bool read();
  int64_t columns() const { return extent(spatial_.back()); }
  int64_t rows() const { return extent(rows_loop()); }
  int64_t bytes_of_row() const { return window_.dims.back().extent * window_.node.dtype().bytes(); }

  /// The nest, and its loops along a row of windows and along one of the result.
  Stmt in_blocks_of(int64_t rows, PooledRows& loops) {
    rows_ = rows;
    Stmt nest = over_outer_loops();
    tir::for_each_stmt(nest, [&](Stmt s) {
      const auto* loop = s.as<tir::For>();
      if (loop != nullptr && loop->var == place_) loops.places = loop->id;
      if (loop != nullptr && loop->var == column_) loops.columns = loop->id;
    });
    return nest;
  }

 private:
  int64_t extent(uint32_t loop) const { return *s_.loop(loop).extent.constant(); }
  static int64_t tap_step(const WindowDim& dim) { return dim.steps[0].second; }  // those of the reduction come first
  int64_t taps(const WindowDim& dim) const { return extent(dim.steps[0].first); }
  static uint32_t loop_of_result(const WindowDim& dim) { return dim.steps[1].first; }

  bool collect_loops() {
    for (const tir::For* loop : nest_.loops) {
      bool reduces = std::any_of(nest_.block->iters.begin(), nest_.block->iters.end(), [&](const tir::IterVar& i) {
        return i.binding == loop->var && i.iter_kind == tir::IterKind::kReduce;
      });
      if (!reduces && !reduced_.empty()) return false;
      (reduces ? reduced_ : spatial_).push_back(loop->id);
      if (reduces && loop->extent.constant() == nullptr) return false;
    }
    return !reduced_.empty() && !spatial_.empty();
  }

  /// Every dim of the window has one loop of taps and one of the result; the last of these is the columns'.
  bool read_dims() {
    int64_t taps_outside = 1;
    for (const WindowDim& dim : window_.dims) {
      if (!dim.slides || dim.steps.size() != 2) return false;
      if (&dim != &window_.dims.back()) taps_outside *= taps(dim);
    }
    if (!window_.dims.back().is_fixed()) return false;
    const size_t rows = window_.dims.size();
    if (rows < 2 || rows > spatial_.size() || taps_outside > kMostTaps) return false;
    for (size_t d = 0; d < rows; ++d) {
      uint32_t loop = loop_of_result(window_.dims[d]);
      if (loop != spatial_[spatial_.size() - rows + d] || s_.loop(loop).extent.constant() == nullptr) return false;
    }
    const WindowDim& columns = window_.dims.back();
    first_ = std::max<int64_t>(0, -*columns.base);
    end_ = std::min(columns.extent, *columns.length - *columns.base);
    return end_ > first_;
  }

  Expr combined(const std::vector<Expr>& values) const {
    Expr all = values[0];
    for (size_t i = 1; i < values.size(); ++i) all = context_.binary(kind_, all, values[i]);
    return all;
  }

  /// Positions outside of a row, for each combination of their taps.
  std::vector<std::vector<Expr>> positions_of_taps() const {
    std::vector<std::vector<Expr>> all{{}};
    for (size_t d = 0; d + 1 < window_.dims.size(); ++d) {
      const WindowDim& dim = window_.dims[d];
      std::vector<std::vector<Expr>> longer;
      for (const std::vector<Expr>& before : all)
        for (int64_t tap = 0; tap < taps(dim); ++tap) {
          longer.push_back(before);
          longer.back().push_back(s_.loop(loop_of_result(dim)).var * dim.steps[1].second + tap * tap_step(dim));
        }
      all = std::move(longer);
    }
    return all;
  }

  Expr outside() const {
    const auto* select = window_.node.as<arith::Select>();
    return select != nullptr ? select->else_value : context_.zero(window_.node.dtype());
  }

  /// The borders of the rows that are kept, which stay the same.
  Stmt borders(size_t taps) const {
    std::vector<Stmt> parts;
    for (auto [begin, end] : {std::pair(int64_t{0}, first_), std::pair(end_, window_.dims.back().extent)})
      if (end > begin)
        parts.push_back(build_.nest({context_.index(rows_), context_.index(end - begin)}, [&, begin = begin](auto& i) {
          return build_.store(kept_, {i[0], i[1] + begin}, combined(std::vector<Expr>(taps, outside())));
        }));
    return build_.seq(std::move(parts));
  }

  /// Row `kept` of what the windows of a row of the result cover.
  Stmt reduced_rows(const std::vector<std::vector<Expr>>& taps, Expr kept) const {
    arith::Facts inner = facts_;
    inner.bound(place_, {0, end_ - first_ - 1});
    for (size_t d = 0; d + 1 < window_.dims.size(); ++d) {
      uint32_t loop = loop_of_result(window_.dims[d]);
      inner.bound(s_.loop(loop).var, {0, std::max<int64_t>(extent(loop), 1) - 1});
    }
    std::vector<BufferRef> locals;
    std::vector<Expr> values;
    std::vector<Stmt> parts;
    for (std::vector<Expr> positions : taps) {
      positions.push_back(place_ + first_);
      const PlacedOperand operand = operand_at(s_, window_, positions);
      BufferRef local = locals.emplace_back(build_.buffer("element", window_.node.dtype(), {}, tir::Scope::kLocal));
      values.push_back(build_.load(local, {}));
      Expr inside = operand.inside ? arith::simplify(operand.inside, inner) : Expr();
      if (inside && inside.is_constant(1)) inside = {};
      if (inside) parts.push_back(build_.store(local, {}, outside()));
      parts.push_back(store_where(context_, inside, place_, build_.store(local, {}, operand.value)));
    }
    parts.push_back(build_.store(kept_, {kept, place_ + first_}, combined(values)));
    return build_.loop(place_, context_.index(0), context_.index(end_ - first_), in_locals(context_, locals, parts));
  }

  Stmt row_of_result(Expr kept) const {
    const WindowDim& dim = window_.dims.back();
    std::vector<BufferRef> locals;
    std::vector<Expr> values;
    std::vector<Stmt> parts;
    for (int64_t tap = 0; tap < taps(dim); ++tap) {
      locals.push_back(build_.buffer("element", kept_->dtype, {}, tir::Scope::kLocal));
      values.push_back(build_.load(locals.back(), {}));
      Expr from = build_.load(kept_, {kept, column_ * dim.steps[1].second + tap * tap_step(dim)});
      parts.push_back(build_.store(locals.back(), {}, from));
    }
    tir::Indices at;
    for (uint32_t loop : spatial_) at.push_back(s_.loop(loop).var);
    at.back() = column_;
    parts.push_back(element_of(context_, group_, result_, at, combined(values)));
    return build_.loop(column_, context_.index(0), context_.index(extent(spatial_.back())),
                       in_locals(context_, locals, parts));
  }

  uint32_t rows_loop() const { return spatial_[spatial_.size() - 2]; }

  Stmt over_outer_loops() {
    place_ = context_.var("place"), column_ = context_.var("column");
    kept_ = build_.buffer("pooled_rows", window_.node.dtype(),
                          {context_.index(rows_), context_.index(window_.dims.back().extent)}, tir::Scope::kGlobal,
                          tir::kMemoryAlignment);
    const std::vector<std::vector<Expr>> taps = positions_of_taps();
    const tir::For& rows = s_.loop(rows_loop());
    auto in_block = [&](Expr block) {
      Expr begin = arith::simplify(block * rows_), count = context_.index(rows_);
      if (extent(rows_loop()) % rows_ != 0) count = arith::simplify(arith::min(count, rows.extent - begin));
      auto over_rows = [&](auto body) {
        return build_.loop("row", count, [&](Var row) {
          return tir::substitute(context_, body(row), {{rows.var, arith::simplify(begin + row)}});
        });
      };
      return build_.seq({over_rows([&](Expr row) { return reduced_rows(taps, row); }),
                         over_rows([&](Expr row) { return row_of_result(row); })});
    };
    Expr blocks = arith::simplify(arith::ceildiv(rows.extent, rows_));
    Stmt s = blocks.is_constant(1) ? in_block(context_.index(0)) : build_.loop("block", blocks, in_block);
    const size_t outer = spatial_.size() - window_.dims.size();
    for (size_t i = spatial_.size() - 2;; --i) {
      if (i == outer) s = build_.alloc(kept_, build_.seq({borders(taps.size()), s}));
      if (i == 0) return s;
      const tir::For& loop = s_.loop(spatial_[i - 1]);
      s = build_.loop(loop.var, context_.index(0), loop.extent, s);
    }
  }

  Context& context_;
  mutable tir::Builder build_;
  const ReductionGroup group_;
  const arith::Facts facts_;
  const analysis::Nest nest_;
  const Tree s_;  ///< of the reduction alone, whose loops the window names
  std::vector<uint32_t> spatial_, reduced_;
  Window window_;
  arith::ExprKind kind_ = arith::ExprKind::kMax;
  BufferRef result_ = nullptr, kept_ = nullptr;
  Var place_, column_;
  int64_t rows_ = 0;             ///< that are kept
  int64_t first_ = 0, end_ = 0;  ///< the columns of a row that are no border, in places of the window
};

bool PoolNests::read() {
  if (!collect_loops()) return false;
  const Legal<Stmt> sum = update_in_loops(s_, nest_.block->id, reduced_[0]);
  if (!sum) return false;
  const auto& store = *sum->as<tir::Store>();
  result_ = store.buffer;
  const Update update = update_of(store);
  if (!update.value || update.kind == arith::ExprKind::kMul) return false;
  kind_ = update.kind;
  for (size_t i = 0; i < spatial_.size(); ++i)
    if (!(store.indices[i] == s_.loop(spatial_[i]).var)) return false;
  auto window = window_of(s_, store, spatial_, reduced_);
  if (!window || !(window->node == update.value) || !window->sharing.empty()) return false;
  window_ = std::move(*window);
  return read_dims() && is_neutral(kind_, nest_.block->init.as<tir::Store>()->value);
}

std::optional<PoolShape> pool_shape_of(const Tree& tree, const ReductionGroup& group) {
  PoolNests pool(tree, group);
  if (!pool.read()) return {};
  return PoolShape{pool.rows(), pool.columns(), pool.bytes_of_row()};
}

Legal<PoolRows::Facts> PoolRows::legal(const Tree& tree) const {
  const std::optional<ReductionGroup> group = group_in(tree);
  const bool begins = group && analysis::as_nest(group->reduction).block->id == block;
  const Facts pool = begins ? std::make_shared<PoolNests>(tree, *group) : nullptr;
  RELAXC_REQUIRE(
      tree.may_allocate() && begins && pool->read(),
      fmt::format("block '{}' is not a pool that starts the nests in focus, or the kernel has no scratch memory",
                  block_name(tree, block)));
  RELAXC_LEGAL(is_marked(tree, block));
  RELAXC_REQUIRE(rows > 0 && rows <= pool->rows(), fmt::format("a block has 1 to {} rows", pool->rows()));
  return pool;
}

PoolRows::Made PoolRows::apply(Tree& tree, const Facts& pool) const {
  PooledRows loops;
  tree.set_root(pool->in_blocks_of(rows, loops));
  return loops;
}

}  // namespace relaxc::schedule
