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

constexpr int64_t kMostTaps = 32;  ///< maximum taps outside of a row, since they are unrolled

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

  /// Reads the group; returns false if it is not a pool.
  bool read();
  PoolShape shape() const {
    const WindowDim& row = window_.dims.back();
    const int64_t bytes = window_.node.dtype().bytes(), reach = (taps(row) - 1) * tap_step(row) + 1;
    return {most(rows_loop()), most(spatial_.back()), has_open_columns(), reach * bytes, step_of_result(row) * bytes};
  }
  bool has_open_columns() const { return !window_.dims.back().length || !is_known(spatial_.back()); }

  /// The nest; sets its loops over places of a row of windows and over columns of the result.
  Stmt in_blocks_of(int64_t rows, int64_t columns, PooledRows& loops) {
    rows_ = rows, part_ = columns;
    Stmt nest = over_outer_loops();
    tir::for_each_stmt(nest, [&](Stmt s) {
      const auto* loop = s.as<tir::For>();
      if (loop != nullptr && loop->var == place_) loops.places = loop->id;
      if (loop != nullptr && loop->var == column_) loops.columns = loop->id;
    });
    return nest;
  }

 private:
  Expr extent(uint32_t loop) const { return s_.loop(loop).extent; }
  bool is_known(uint32_t loop) const { return extent(loop).constant() != nullptr; }
  int64_t most(uint32_t loop) const { return arith::bounds(extent(loop), facts_).upper; }
  static int64_t tap_step(const WindowDim& dim) { return dim.steps[0].second; }  // loops of the reduction come first
  static int64_t step_of_result(const WindowDim& dim) { return dim.steps[1].second; }
  int64_t taps(const WindowDim& dim) const { return *extent(dim.steps[0].first).constant(); }
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

  /// Requires one loop over taps and one of the result for every dim of the window; the columns are the last dim.
  bool read_dims() {
    int64_t taps_outside = 1;
    for (const WindowDim& dim : window_.dims) {
      if (!dim.slides || dim.steps.size() != 2) return false;
      if (&dim != &window_.dims.back()) taps_outside *= taps(dim);
    }
    const WindowDim& columns = window_.dims.back();
    const size_t rows = window_.dims.size();
    if (rows < 2 || rows > spatial_.size() || taps_outside > kMostTaps || !columns.base || columns.moving) return false;
    for (size_t d = 0; d < rows; ++d)
      if (loop_of_result(window_.dims[d]) != spatial_[spatial_.size() - rows + d]) return false;
    return has_open_columns() ||
           std::min(columns.extent, *columns.length - *columns.base) > std::max<int64_t>(0, -*columns.base);
  }

  Expr combined(const std::vector<Expr>& values) const {
    Expr all = values[0];
    for (size_t i = 1; i < values.size(); ++i) all = context_.binary(kind_, all, values[i]);
    return all;
  }

  /// The positions in all dims except the row, for each combination of their taps.
  std::vector<std::vector<Expr>> positions_of_taps() const {
    std::vector<std::vector<Expr>> all{{}};
    for (size_t d = 0; d + 1 < window_.dims.size(); ++d) {
      const WindowDim& dim = window_.dims[d];
      std::vector<std::vector<Expr>> longer;
      for (const std::vector<Expr>& before : all)
        for (int64_t tap = 0; tap < taps(dim); ++tap) {
          longer.push_back(before);
          longer.back().push_back(s_.loop(loop_of_result(dim)).var * step_of_result(dim) + tap * tap_step(dim));
        }
      all = std::move(longer);
    }
    return all;
  }

  Expr outside() const {
    const auto* select = window_.node.as<arith::Select>();
    return select != nullptr ? select->else_value : context_.zero(window_.node.dtype());
  }

  /// At most `count` columns from `begin` on, and the places that their windows cover.
  struct Part {
    Expr begin, count;
    Expr places, first, end;  ///< number of places; range of those that are not border
  };
  Part part(Expr begin, Expr count) const {
    const WindowDim& row = window_.dims.back();
    Part part{begin, count, {}, {}, {}};
    part.places = arith::simplify((count - 1) * step_of_result(row) + ((taps(row) - 1) * tap_step(row) + 1), facts_);
    const Expr at = begin * step_of_result(row) + *row.base, length = window_.load->buffer->shape[row.axis];
    part.first = arith::simplify(arith::min(arith::max(-at, context_.index(0)), part.places), facts_);
    part.end = arith::simplify(arith::max(arith::min(part.places, length - at), part.first), facts_);
    return part;
  }

  /// Initializes the borders of the kept rows, which are the same for all rows of a part.
  Stmt borders(size_t taps, const Part& part) const {
    std::vector<Stmt> parts;
    for (const auto& [begin, end] : {std::pair(context_.index(0), part.first), std::pair(part.end, part.places)}) {
      const Expr count = arith::simplify(end - begin, facts_);
      if (count.is_constant(0)) continue;
      parts.push_back(build_.nest({context_.index(rows_), count}, [&, begin = begin](auto& i) {
        return build_.store(kept_, {i[0], i[1] + begin}, combined(std::vector<Expr>(taps, outside())));
      }));
    }
    return build_.seq(std::move(parts));
  }

  /// Facts about `at`, a place of the window that is not border, and about the loops over rows.
  arith::Facts inside_of_row(Var at) const {
    const WindowDim& row = window_.dims.back();
    arith::Facts inner = facts_;
    inner.bound(at, {std::max<int64_t>(0, -*row.base), INT64_MAX});
    inner.assume(arith::lt(at + *row.base, window_.load->buffer->shape[row.axis]));
    for (size_t d = 0; d + 1 < window_.dims.size(); ++d) {
      const tir::For& loop = s_.loop(loop_of_result(window_.dims[d]));
      inner.bound(loop.var, {0, std::max<int64_t>(most(loop.id), 1) - 1});
      if (!is_known(loop.id)) inner.assume(arith::lt(loop.var, loop.extent));
    }
    return inner;
  }

  /// Computes the kept row `kept`: the windows of a row of the result, reduced over all taps outside of the row.
  Stmt reduced_rows(const std::vector<std::vector<Expr>>& taps, Expr kept, const Part& part) const {
    const Var at = context_.var("at");
    const arith::Facts inner = inside_of_row(at);
    const Expr place = place_ + part.first;
    const arith::Substitution there{{at, place + part.begin * step_of_result(window_.dims.back())}};
    std::vector<BufferRef> locals;
    std::vector<Expr> values;
    std::vector<Stmt> parts;
    for (std::vector<Expr> positions : taps) {
      positions.push_back(at);
      const PlacedOperand operand = operand_at(s_, window_, positions);
      BufferRef local = locals.emplace_back(build_.buffer("element", window_.node.dtype(), {}, tir::Scope::kLocal));
      values.push_back(build_.load(local, {}));
      Expr inside = operand.inside ? arith::simplify(operand.inside, inner) : Expr();
      if (inside && inside.is_constant(1)) inside = {};
      if (inside) parts.push_back(build_.store(local, {}, outside()));
      if (inside) inside = arith::substitute(inside, there);
      const Stmt load = build_.store(local, {}, arith::substitute(operand.value, there));
      parts.push_back(store_where(context_, inside, place_, load));
    }
    parts.push_back(build_.store(kept_, {kept, place}, combined(values)));
    const Stmt body = in_locals(context_, locals, parts);
    return build_.loop(place_, context_.index(0), arith::simplify(part.end - part.first, facts_), body);
  }

  /// Simplifies conditions of consumers on rows and columns, such as how much of a window is border, by their ranges.
  Stmt within_image(Stmt body, Var column) const {
    arith::Facts inner = facts_;
    auto is_in = [&](Var var, Expr extent) {
      inner.bound(var, arith::Range::at_least(0));
      inner.assume(arith::lt(var, extent));
    };
    for (size_t i = 0; i + 1 < spatial_.size(); ++i) is_in(s_.loop(spatial_[i]).var, extent(spatial_[i]));
    is_in(column, extent(spatial_.back()));
    return tir::rewrite(context_, body,
                        {.on_expr = [&](Expr e) { return e.dtype().is_index() ? e : arith::simplify(e, inner); },
                         .on_stmt = {},
                         .on_buffer = {}});
  }

  Stmt row_of_result(Expr kept, const Part& part) const {
    const WindowDim& dim = window_.dims.back();
    std::vector<BufferRef> locals;
    std::vector<Expr> values;
    std::vector<Stmt> parts;
    for (int64_t tap = 0; tap < taps(dim); ++tap) {
      locals.push_back(build_.buffer("element", kept_->dtype, {}, tir::Scope::kLocal));
      values.push_back(build_.load(locals.back(), {}));
      Expr from = build_.load(kept_, {kept, column_ * step_of_result(dim) + tap * tap_step(dim)});
      parts.push_back(build_.store(locals.back(), {}, from));
    }
    tir::Indices at;
    for (uint32_t loop : spatial_) at.push_back(s_.loop(loop).var);
    const Var column = context_.var("column");
    at.back() = column;
    const Stmt element = within_image(element_of(context_, group_, result_, at, combined(values)), column);
    parts.push_back(tir::substitute(context_, element, {{column, part.begin + column_}}));
    return build_.loop(column_, context_.index(0), part.count, in_locals(context_, locals, parts));
  }

  uint32_t rows_loop() const { return spatial_[spatial_.size() - 2]; }

  /// The loops over the rows of one part of the columns.
  Stmt over_rows(const std::vector<std::vector<Expr>>& taps, const Part& part) const {
    const tir::For& rows = s_.loop(rows_loop());
    auto in_block = [&](Expr block) {
      Expr begin = arith::simplify(block * rows_), count = context_.index(rows_);
      if (!is_known(rows.id) || *rows.extent.constant() % rows_ != 0)
        count = arith::simplify(arith::min(count, rows.extent - begin));
      auto each_row = [&](auto body) {
        return build_.loop("row", count, [&](Var row) {
          return tir::substitute(context_, body(row), {{rows.var, arith::simplify(begin + row)}});
        });
      };
      return build_.seq({each_row([&](Expr row) { return reduced_rows(taps, row, part); }),
                         each_row([&](Expr row) { return row_of_result(row, part); })});
    };
    const Expr blocks = arith::simplify(arith::ceildiv(rows.extent, rows_));
    return blocks.is_constant(1) ? in_block(context_.index(0)) : build_.loop("block", blocks, in_block);
  }

  Stmt in_loop(size_t spatial, Stmt body) const {
    const tir::For& loop = s_.loop(spatial_[spatial]);
    return build_.loop(loop.var, context_.index(0), loop.extent, body);
  }

  Stmt over_parts() const {
    const std::vector<std::vector<Expr>> taps = positions_of_taps();
    const Expr columns = extent(spatial_.back());
    auto of_part = [&](Expr begin, Expr count) {
      const Part one = part(begin, count);
      Stmt rows = over_rows(taps, one);
      for (size_t i = spatial_.size() - 2; i-- > spatial_.size() - window_.dims.size();) rows = in_loop(i, rows);
      return build_.seq({borders(taps.size(), one), rows});
    };
    if (part_ == 0) return of_part(context_.index(0), columns);
    return build_.loop("part", arith::simplify(arith::ceildiv(columns, part_)), [&](Expr part) {
      const Expr begin = part * part_;
      return of_part(begin, arith::simplify(arith::min(context_.index(part_), columns - begin)));
    });
  }

  Stmt over_outer_loops() {
    place_ = context_.var("place"), column_ = context_.var("column");
    const PoolShape pool = shape();
    const int64_t elements = pool.bytes_of_row(part_ != 0 ? part_ : pool.columns) / window_.node.dtype().bytes();
    kept_ = build_.buffer("pooled_rows", window_.node.dtype(), {context_.index(rows_), context_.index(elements)},
                          tir::Scope::kGlobal, tir::kMemoryAlignment);
    Stmt s = build_.alloc(kept_, over_parts());
    for (size_t i = spatial_.size() - window_.dims.size(); i-- > 0;) s = in_loop(i, s);
    return s;
  }

  Context& context_;
  mutable tir::Builder build_;
  const ReductionGroup group_;
  const arith::Facts facts_;
  const analysis::Nest nest_;
  const Tree s_;  ///< the reduction only; the window refers to its loops
  std::vector<uint32_t> spatial_, reduced_;
  Window window_;
  arith::ExprKind kind_ = arith::ExprKind::kMax;
  BufferRef result_ = nullptr, kept_ = nullptr;
  Var place_, column_;
  int64_t rows_ = 0;  ///< number of kept rows
  int64_t part_ = 0;  ///< columns of a part; 0 for all
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
  MostIterations open;  // the size of what is kept does not depend on these
  for (uint32_t loop : spatial_)
    if (!is_known(loop)) open[loop] = 1;
  auto window = window_of(s_, store, spatial_, reduced_, open);
  if (!window || !(window->node == update.value) || !window->sharing.empty()) return false;
  window_ = std::move(*window);
  return read_dims() && is_neutral(kind_, nest_.block->init.as<tir::Store>()->value);
}

std::optional<PoolShape> pool_shape_of(const Tree& tree, const ReductionGroup& group) {
  PoolNests pool(tree, group);
  if (!pool.read()) return {};
  return pool.shape();
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
  const PoolShape shape = pool->shape();
  RELAXC_REQUIRE(rows > 0 && rows <= shape.rows, fmt::format("a block has 1 to {} rows", shape.rows));
  RELAXC_REQUIRE(columns > 0 || (columns == 0 && !shape.has_open_columns),
                 "a part has at least one column, and may be the whole row only if the number of columns is known");
  return pool;
}

PoolRows::Made PoolRows::apply(Tree& tree, const Facts& pool) const {
  PooledRows loops;
  tree.set_root(pool->in_blocks_of(rows, columns, loops));
  return loops;
}

}  // namespace relaxc::schedule
