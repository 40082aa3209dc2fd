// winograd_nests.cpp: computes a convolution by Winograd's algorithm: transforms, sums of products, and results.
//
// Both transforms are generated with vectors along a row: each loads the rows of a tile into locals and stores all of
// their combinations. Combinations for a point and its opposite share their even and odd parts, which the backend
// finds. The sums are an ordinary reduction, for which there is a strategy.
#include "compiler/schedule/primitives/winograd_nests.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/primitives/generated_code.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::Block;
using tir::Indices;

namespace {

int64_t most_pitch_of(const RowFilter& filter, const FilterTiles& tiles) {
  const int64_t* columns = filter.columns.constant();
  int64_t places = tiles.width;
  if (columns != nullptr) {
    const int64_t all = (*columns + tiles.columns - 1) / tiles.columns;
    places = tiles.width == 0 ? all : std::min(all, tiles.width);
  }
  return tiles.in_both_dims() ? places : places + filter.column_taps - 1;
}

Expr pitch_of(const RowFilter& filter, const FilterTiles& tiles) {
  Context& context = filter.columns.context();
  if (filter.columns.constant() != nullptr) return context.index(most_pitch_of(filter, tiles));
  const Expr places = arith::min(arith::ceildiv(filter.columns, tiles.columns), context.index(tiles.width));
  return tiles.in_both_dims() ? places : places + (filter.column_taps - 1);
}

/// Blocks of narrow images of open size have as many times the tiles of one of wide images, at most: a judgement, which
/// bounds the memory of lines along rows. Other values were not tried.
constexpr int64_t kMostNarrower = 8;

int64_t most_tiles_of(const RowFilter& filter, const FilterTiles& tiles) {
  if (tiles.width == 0) return tiles.count;
  const int64_t* rows = filter.rows.constant();
  const int64_t most = tiles.count * std::min(tiles.width, kMostNarrower);
  return rows == nullptr ? most : std::max(tiles.count, std::min(most, (*rows + tiles.rows - 1) / tiles.rows));
}

}  // namespace

Expr tiles_of_block(const RowFilter& filter, const FilterTiles& tiles) {
  Context& context = filter.columns.context();
  const int64_t most = most_tiles_of(filter, tiles);
  if (most == tiles.count) return context.index(most);
  const Expr places = context.index(tiles.count * most_pitch_of(filter, tiles));
  const Expr pitch = arith::max(context.index(1), pitch_of(filter, tiles));
  return arith::simplify(arith::min(context.index(most), arith::floordiv(places, pitch)));
}

WinogradNests::WinogradNests(const Tree& tree, const RowFilter& filter, const FilterTiles& tiles,
                             const Machine& machine)
    : tree_(tree),
      context_(tree.context()),
      build_(tree.context()),
      filter_(filter),
      by_(winograd_transform(tiles.rows)),
      along_(tiles.in_both_dims() ? std::optional(winograd_transform(tiles.columns)) : std::nullopt),
      tiles_(tiles.count),
      most_tiles_(most_tiles_of(filter, tiles)),
      width_(tiles.width),
      most_pitch_(most_pitch_of(filter, tiles)),
      pitch_(pitch_of(filter, tiles)),
      tiles_of_block_(tiles_of_block(filter, tiles)),
      machine_(machine),
      block_(tree.context().var("rows")),
      column_block_(tree.context().var("columns")) {
  std::vector<int64_t> points{by_.points()};
  if (along_) points.push_back(along_->points());
  auto at_points = [&](int64_t outer) {
    std::vector<int64_t> dims = points;
    dims.push_back(outer);
    return dims;
  };
  const int64_t data = tiles_ * most_pitch_, reached = is_open() && along_ ? machine_.lanes : 0;
  const int64_t sums = data - (along_ ? 0 : filter.column_taps - 1);
  data_ = scratch("data_at_points", at_points(filter.channels), data + reached);
  sums_ = scratch("sums_at_points", at_points(filter.outputs), sums + reached);
  std::vector<Expr> shape = filter.weight->shape;
  shape[filter.tap_axis] = context_.index(by_.points());
  if (along_) shape[filter.column_axis] = context_.index(along_->points());
  weight_ = build_.buffer(filter.weight->name + "_at_points", DType::f(32), std::move(shape), filter.weight->scope);
}

int64_t WinogradNests::in_whole(int64_t elements) const {
  return (elements + machine_.lanes - 1) / machine_.lanes * machine_.lanes;
}

Expr WinogradNests::in_whole(Expr elements) const {
  return arith::ceildiv(elements, machine_.lanes) * machine_.lanes;
}

Expr WinogradNests::tiles_here() const {
  if (!is_open()) return tiles_of_block_;
  return arith::min(tiles_of_block_, ceildiv(filter_.rows, by_.results) - block_ * tiles_of_block_);
}

Expr WinogradNests::columns_here() const {
  if (!is_open()) return filter_.columns;
  const int64_t most = width_ * columns_of_place();
  return arith::min(context_.index(most), filter_.columns - column_block_ * most);
}

Expr WinogradNests::places_here() const {
  if (!is_open()) return context_.index((tiles_ - 1) * most_pitch_) + (along_ ? pitch_ : filter_.columns);
  const Expr places = ceildiv(columns_here(), columns_of_place());
  return (tiles_here() - 1) * pitch_ + places;
}

Expr WinogradNests::in_image(Expr column) const {
  return is_open() ? column_block_ * (width_ * columns_of_place()) + column : column;
}

bool WinogradNests::is_ragged() const {
  const int64_t* rows = filter_.rows.constant();
  return rows == nullptr || *rows % (is_open() ? by_.results : tiles_ * by_.results) != 0;
}

BufferRef WinogradNests::scratch(const char* name, std::vector<int64_t> outer, int64_t width) const {
  constexpr int64_t kElement = DType::f(32).bytes(), kAligned = tir::kMemoryAlignment;
  width = (width * kElement + kAligned - 1) / kAligned * kAligned;  // each row of places is aligned
  if (machine_.period != 0 && width % machine_.period == 0)
    width += kAligned;  // rows must not start in the same cache set
  if (machine_.period != 0 && outer.back() * width % machine_.period == 0)
    ++outer.back();  // nor must the points of a place
  std::vector<Expr> shape;
  for (int64_t dim : outer) shape.push_back(context_.index(dim));
  shape.push_back(context_.index(width / kElement));
  return build_.buffer(name, DType::f(32), std::move(shape), tir::Scope::kGlobal, kAligned);
}

std::vector<Packing::Taps> WinogradNests::filtered_axes() const {
  auto taps = [&](size_t axis, int64_t results) {
    int64_t inner = 1;
    for (size_t i = axis + 1; i < weight_->shape.size(); ++i) inner *= *weight_->shape[i].constant();
    return Packing::Taps{axis, inner, results};
  };
  std::vector<Packing::Taps> axes{taps(filter_.tap_axis, by_.results)};
  if (along_) axes.push_back(taps(filter_.column_axis, along_->results));
  std::sort(axes.begin(), axes.end(), [](const auto& a, const auto& b) { return a.axis < b.axis; });
  return axes;
}

int64_t WinogradNests::most_data_columns() const {
  if (!along_) return most_pitch_;
  const int64_t places = is_open() ? in_whole(most_pitch_) : most_pitch_;
  return in_whole(places * along_->results + WinogradTransform::kTaps - 1);
}

Expr WinogradNests::data_columns() const {
  if (!is_open()) return context_.index(most_data_columns());
  if (!along_) return columns_here() + (filter_.column_taps - 1);
  return in_whole(columns_here() + (WinogradTransform::kTaps - 1 + along_->results - 1));
}

Expr WinogradNests::number(double value) const {
  return context_.imm_float(DType::f(32), value);
}

Expr WinogradNests::sum_of(const std::vector<std::pair<double, Expr>>& terms) const {
  Expr sum;
  for (const auto& [by, term] : terms) {
    if (by == 0) continue;
    if (!sum)
      sum = by == 1 ? term : number(by) * term;
    else if (by == 1 || by == -1)
      sum = by == 1 ? sum + term : sum - term;
    else if (machine_.fma)
      sum = arith::call(arith::Intrinsic::k_fma, {number(by), term, sum});
    else
      sum = sum + number(by) * term;
  }
  return sum ? sum : number(0);
}

Expr WinogradNests::data_at(const WinogradTransform& by, size_t point, const std::vector<Expr>& data) const {
  const std::vector<double>& factors = by.data[point];
  std::vector<std::pair<double, Expr>> even, odd;
  double sign = 0;
  for (size_t j = 0; j < data.size(); ++j) {
    if (j % 2 == 1 && sign == 0 && factors[j] != 0) sign = factors[j] < 0 ? -1 : 1;
    (j % 2 == 0 ? even : odd).push_back({(j % 2 == 0 ? 1 : sign) * factors[j], data[j]});
  }
  bool has_even = std::any_of(even.begin(), even.end(), [](const auto& term) { return term.first != 0; });
  return sum_of({{has_even ? 1 : 0, sum_of(even)}, {sign, sign != 0 ? sum_of(odd) : Expr()}});
}

Expr WinogradNests::result_at(const WinogradTransform& by, size_t result, const std::vector<Expr>& sums) const {
  // Points are pairs of opposites, except for 0 first and infinity last.
  const std::vector<double>& factors = by.result[result];
  std::vector<std::pair<double, Expr>> terms{{factors[0], sums[0]}};
  for (size_t p = 1; p + 1 < sums.size(); p += 2)
    if (factors[p] != 0)
      terms.push_back({factors[p], factors[p] == factors[p + 1] ? sums[p] + sums[p + 1] : sums[p] - sums[p + 1]});
  terms.push_back({factors.back(), sums.back()});
  return sum_of(terms);
}

Stmt WinogradNests::with_loaded(const char* name, const std::vector<Expr>& values,
                                const std::function<std::vector<Stmt>(const std::vector<Expr>&)>& body) const {
  std::vector<BufferRef> locals;
  std::vector<Stmt> parts;
  std::vector<Expr> loaded;
  for (Expr value : values) {
    locals.push_back(build_.buffer(name, DType::f(32), {}, tir::Scope::kLocal));
    loaded.push_back(build_.load(locals.back(), {}));
    parts.push_back(build_.store(locals.back(), {}, value));
  }
  for (Stmt one : body(loaded)) parts.push_back(one);
  return in_locals(context_, locals, parts);
}

Stmt WinogradNests::data_along_columns(Expr channel, Expr tile, Var column, BufferRef lines) const {
  const auto points = static_cast<size_t>(by_.points());
  std::vector<BufferRef> rows;
  std::vector<Stmt> parts;
  std::vector<Expr> loaded;
  for (size_t j = 0; j < points; ++j) {
    Expr row = (block_ * tiles_of_block_ + tile) * by_.results + static_cast<int64_t>(j);
    std::vector<Expr> positions(3);
    positions[filter_.row_dim] = row, positions[filter_.column_dim] = in_image(column);
    positions[filter_.channel_dim] = channel;
    PlacedOperand operand = operand_at(tree_, filter_.window, positions);
    auto only = [&](Expr condition) {
      operand.inside = operand.inside ? arith::logical_and(condition, operand.inside) : condition;
    };
    const Expr columns = filter_.columns + (filter_.column_taps - 1);
    if (is_open() ? along_.has_value() : most_data_columns() > *columns.constant())
      only(arith::lt(in_image(column), columns));
    if (is_ragged()) only(arith::lt(row, filter_.rows + (WinogradTransform::kTaps - 1)));
    rows.push_back(build_.buffer("row", DType::f(32), {}, tir::Scope::kLocal));
    loaded.push_back(build_.load(rows[j], {}));
    parts.push_back(store_where(context_, operand.inside, column, build_.store(rows[j], {}, operand.value)));
  }
  for (size_t p = 0; p < points; ++p) {
    Expr point = context_.index(static_cast<int64_t>(p)), value = data_at(by_, p, loaded);
    parts.push_back(along_ ? build_.store(lines, {tile, point, column}, value)
                           : build_.store(data_, {point, channel, tile * pitch_ + column}, value));
  }
  return in_locals(context_, rows, parts);
}

Stmt WinogradNests::data_along_rows(Expr channel, Expr tile, Expr point, Expr across, BufferRef lines) const {
  std::vector<Expr> data;
  for (int64_t j = 0; j < along_->points(); ++j)
    data.push_back(build_.load(lines, {tile, point, across * along_->results + j}));
  return with_loaded("datum", data, [&](const std::vector<Expr>& loaded) {
    std::vector<Stmt> stores;
    for (size_t q = 0; q < loaded.size(); ++q) {
      Indices at{point, context_.index(static_cast<int64_t>(q)), channel, tile * pitch_ + across};
      stores.push_back(build_.store(data_, at, data_at(*along_, q, loaded)));
    }
    return stores;
  });
}

Stmt WinogradNests::at_each_point(Var across, const std::function<Stmt(Expr)>& body) const {
  return build_.loop("point", context_.index(by_.points()), [&](Var point) {
    const Stmt at_point = body(point);
    return build_.loop(across, context_.index(0), is_open() ? in_whole(pitch_) : pitch_, at_point);
  });
}

namespace {

uint32_t loop_of(Stmt nest, Var var) {
  uint32_t id = 0;
  tir::for_each_stmt(nest, [&](Stmt inner) {
    const auto* found = inner.as<tir::For>();
    if (found != nullptr && found->var == var) id = found->id;
  });
  return id;
}

}  // namespace

Stmt WinogradNests::data_nest(FilterNests& made) const {
  Var column = context_.var("column"), across = context_.var("across");
  BufferRef lines = along_ ? scratch("data_lines", {most_tiles_, by_.points()}, most_data_columns()) : nullptr;
  Stmt nest = build_.loop("channel", context_.index(filter_.channels), [&](Var channel) {
    Stmt rows = build_.loop("tile", tiles_here(), [&](Var tile) {
      const Stmt body = data_along_columns(channel, tile, column, lines);
      return build_.loop(column, context_.index(0), data_columns(), body);
    });
    if (!along_) return rows;
    Stmt along = build_.loop("tile", tiles_here(), [&](Var tile) {
      return at_each_point(across, [&](Expr point) { return data_along_rows(channel, tile, point, across, lines); });
    });
    return build_.alloc(lines, build_.seq({rows, along}));
  });
  made.columns.push_back(loop_of(nest, column));
  if (along_) made.across.push_back(loop_of(nest, across));
  return nest;
}

Stmt WinogradNests::sum_nest() const {
  // The scratch memory is wider than what is summed, so the nest does not cover a whole buffer.
  std::vector<Expr> extents{context_.index(by_.points())};
  if (along_) extents.push_back(context_.index(along_->points()));
  const size_t points = extents.size(), spatial = points + 2;
  for (Expr extent : {context_.index(filter_.outputs), places_here(), context_.index(filter_.channels)})
    extents.push_back(extent);
  if (!along_) extents.push_back(context_.index(filter_.column_taps));
  Block block;
  block.name = "filter";
  std::vector<Var> loops, axes;
  for (size_t i = 0; i < extents.size(); ++i) {
    loops.push_back(context_.var(i < spatial ? "i" : "k"));
    axes.push_back(context_.var(i < spatial ? "i" : "k"));
    tir::IterKind kind = i < spatial ? tir::IterKind::kSpatial : tir::IterKind::kReduce;
    block.iters.push_back({axes[i], context_.index(0), extents[i], kind, loops[i]});
  }
  Expr output = axes[points], place = axes[points + 1], channel = axes[spatial], tap = axes.back();
  Indices of_weight(4), own(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(spatial)), of_data = own;
  of_weight[filter_.output_axis] = output, of_weight[filter_.channel_axis] = channel;
  of_weight[filter_.tap_axis] = axes[0], of_weight[filter_.column_axis] = along_ ? Expr(axes[1]) : tap;
  of_data[points] = channel, of_data[points + 1] = along_ ? place : place + tap;
  block.init = build_.store(sums_, own, number(0));
  block.body =
      build_.store(sums_, own, build_.load(sums_, own) + build_.load(weight_, of_weight) * build_.load(data_, of_data));
  Stmt s = build_.block(std::move(block));
  for (size_t i = extents.size(); i-- > 0;) s = build_.loop(loops[i], context_.index(0), extents[i], s);
  return s;
}

Stmt WinogradNests::row_of_result(const ReductionGroup& group, const std::vector<Expr>& sums, Expr output, Expr tile,
                                  Expr column, size_t row) const {
  Expr at_row = (block_ * tiles_of_block_ + tile) * by_.results + static_cast<int64_t>(row);
  Expr value = result_at(by_, row, sums);
  Stmt s = element_of(context_, group, filter_.result, {filter_.batch, output, at_row, in_image(column)}, value);
  return is_ragged() ? build_.branch(arith::lt(at_row, filter_.rows), s) : s;
}

Stmt WinogradNests::results_along_rows(Expr output, Expr tile, Expr point, Expr across, BufferRef lines) const {
  std::vector<Expr> sums;
  for (int64_t q = 0; q < along_->points(); ++q)
    sums.push_back(build_.load(sums_, {point, context_.index(q), output, tile * pitch_ + across}));
  return with_loaded("sum", sums, [&](const std::vector<Expr>& loaded) {
    std::vector<Stmt> stores;
    for (int64_t i = 0; i < along_->results; ++i)
      stores.push_back(build_.store(lines, {tile, point, across * along_->results + i},
                                    result_at(*along_, static_cast<size_t>(i), loaded)));
    return stores;
  });
}

Stmt WinogradNests::results_along_columns(const ReductionGroup& group, Expr output, Expr tile, Expr column,
                                          BufferRef lines) const {
  std::vector<Expr> sums;
  for (int64_t p = 0; p < by_.points(); ++p) {
    Expr point = context_.index(p);
    sums.push_back(along_ ? build_.load(lines, {tile, point, column})
                          : build_.load(sums_, {point, output, tile * pitch_ + column}));
  }
  return with_loaded("sum", sums, [&](const std::vector<Expr>& loaded) {
    std::vector<Stmt> rows;
    for (size_t row = 0; row < static_cast<size_t>(by_.results); ++row)
      rows.push_back(row_of_result(group, loaded, output, tile, column, row));
    return rows;
  });
}

Stmt WinogradNests::result_nest(const ReductionGroup& group, FilterNests& made) const {
  Var column = context_.var("column"), across = context_.var("across");
  const int64_t places = is_open() ? in_whole(most_pitch_) : most_pitch_;
  BufferRef lines = along_ ? scratch("result_lines", {most_tiles_, by_.points()}, places * along_->results) : nullptr;
  Stmt nest = build_.loop("output", context_.index(filter_.outputs), [&](Var output) {
    Stmt rows = build_.loop("tile", tiles_here(), [&](Var tile) {
      const Stmt body = results_along_columns(group, output, tile, column, lines);
      return build_.loop(column, context_.index(0), columns_here(), body);
    });
    if (!along_) return rows;
    Stmt along = build_.loop("tile", tiles_here(), [&](Var tile) {
      return at_each_point(across, [&](Expr point) { return results_along_rows(output, tile, point, across, lines); });
    });
    return build_.alloc(lines, build_.seq({along, rows}));
  });
  if (along_) made.across.push_back(loop_of(nest, across));
  made.columns.push_back(loop_of(nest, column));
  return nest;
}

Stmt WinogradNests::in_blocks(Stmt body, FilterNests& made) const {
  if (is_open()) body = build_.loop(column_block_, context_.index(0), ceildiv(all_places(), width_), body);
  body = build_.alloc(data_, build_.alloc(sums_, body));
  const Expr blocks = ceildiv(filter_.rows, rows_of_block());
  body = build_.loop(block_, context_.index(0), blocks, body);
  made.blocks = loop_of(body, block_);
  return build_.loop(filter_.batch, context_.index(0), filter_.batches, body);
}

}  // namespace relaxc::schedule
