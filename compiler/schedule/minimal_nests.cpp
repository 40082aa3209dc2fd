// minimal_nests.cpp: a convolution as data at points, sums of products there, and results from them.
//
// The two transforms are written as vectors along a row from the start: each loads the rows of a tile into locals and
// stores all of their combinations. Combinations for a point and its opposite share their even and odd parts, which is
// left to the backend to see. The sums are an ordinary reduction, for which there is a rule.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/filter.h"
#include "compiler/schedule/rule_parts.h"

namespace relaxc::schedule {

using tir::Block;
using tir::Indices;

MinimalNests::MinimalNests(Context& context, const RowFilter& filter, const MinimalFilter& by, int64_t tiles, bool fma)
    : context_(context),
      build_(context),
      filter_(filter),
      by_(by),
      tiles_(tiles),
      pitch_(filter.columns + filter.column_taps - 1),
      fma_(fma),
      block_(context.var("rows")) {
  constexpr int64_t kSetPeriod = 4096, kLine = 64, kElement = 4;
  auto scratch = [&](const char* name, int64_t outer, int64_t width) {
    width = (width * kElement + kLine - 1) / kLine * kLine;  // each row of places begins a line of cache
    if (width % kSetPeriod == 0) width += kLine;             // and not all in the same set
    std::vector<Expr> shape{context_.index(by_.points()), context_.index(outer), context_.index(width / kElement)};
    return build_.buffer(name, DType::f(32), std::move(shape), tir::Scope::kGlobal, kLine);
  };
  data_ = scratch("data_at_points", filter.channels, tiles_ * pitch_);
  sums_ = scratch("sums_at_points", filter.outputs, places());
  std::vector<Expr> shape = filter.weight->shape;
  shape[filter.tap_axis] = context_.index(by_.points());
  weight_ = build_.buffer(filter.weight->name + "_at_points", DType::f(32), std::move(shape), filter.weight->scope);
}

Expr MinimalNests::number(double value) const {
  return context_.imm_float(DType::f(32), value);
}

Expr MinimalNests::sum_of(const std::vector<std::pair<double, Expr>>& terms) const {
  Expr sum;
  for (const auto& [by, term] : terms) {
    if (by == 0) continue;
    if (!sum)
      sum = by == 1 ? term : number(by) * term;
    else if (by == 1 || by == -1)
      sum = by == 1 ? sum + term : sum - term;
    else if (fma_)
      sum = arith::call(arith::Intrinsic::k_fma, {number(by), term, sum});
    else
      sum = sum + number(by) * term;
  }
  return sum ? sum : number(0);
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

Stmt MinimalNests::data_nest(uint32_t& columns) const {
  const auto points = static_cast<size_t>(by_.points());
  Var column = context_.var("column");
  auto body = [&](Var channel, Var tile) {
    std::vector<BufferRef> rows;
    std::vector<Stmt> parts;
    for (size_t j = 0; j < points; ++j) {
      Expr row = (block_ * tiles_ + tile) * by_.results + static_cast<int64_t>(j);
      std::vector<Expr> positions(3);
      positions[filter_.row_dim] = row, positions[filter_.column_dim] = column;
      positions[filter_.channel_dim] = channel;
      PlacedOperand operand = operand_at(filter_.nest, filter_.window, positions);
      Expr inside = operand.inside;
      if (is_ragged()) {
        Expr exists = arith::lt(row, context_.index(filter_.rows + MinimalFilter::kTaps - 1));
        inside = inside ? arith::logical_and(exists, inside) : exists;
      }
      rows.push_back(build_.buffer("row", DType::f(32), {}, tir::Scope::kLocal));
      parts.push_back(where(context_, inside, column, build_.store(rows[j], {}, operand.value)));
    }
    for (size_t p = 0; p < points; ++p) {
      std::vector<std::pair<double, Expr>> even, odd;
      double sign = 0;
      for (size_t j = 0; j < points; ++j) {
        if (j % 2 == 1 && sign == 0 && by_.data[p][j] != 0) sign = by_.data[p][j] < 0 ? -1 : 1;
        (j % 2 == 0 ? even : odd).push_back({(j % 2 == 0 ? 1 : sign) * by_.data[p][j], build_.load(rows[j], {})});
      }
      bool has_even = std::any_of(even.begin(), even.end(), [](const auto& term) { return term.first != 0; });
      Expr value = sum_of({{has_even ? 1 : 0, sum_of(even)}, {sign, sign != 0 ? sum_of(odd) : Expr()}});
      parts.push_back(
          build_.store(data_, {context_.index(static_cast<int64_t>(p)), channel, tile * pitch_ + column}, value));
    }
    return in_locals(context_, rows, parts);
  };
  Stmt nest = build_.loop("channel", context_.index(filter_.channels), [&](Var channel) {
    return build_.loop("tile", context_.index(tiles_), [&](Var tile) {
      return build_.loop(column, context_.index(0), context_.index(pitch_), body(channel, tile));
    });
  });
  columns = loop_of(nest, column);
  return nest;
}

Stmt MinimalNests::sum_nest() const {
  // The scratch memory is wider than what is summed, so the nest is not one over all of a buffer.
  std::vector<Expr> extents{context_.index(by_.points()), context_.index(filter_.outputs), context_.index(places()),
                            context_.index(filter_.channels), context_.index(filter_.column_taps)};
  Block block;
  block.name = "filter";
  std::vector<Var> loops, axes;
  for (size_t i = 0; i < extents.size(); ++i) {
    loops.push_back(context_.var(i < 3 ? "i" : "k"));
    axes.push_back(context_.var(i < 3 ? "i" : "k"));
    tir::IterKind kind = i < 3 ? tir::IterKind::kSpatial : tir::IterKind::kReduce;
    block.iters.push_back({axes[i], context_.index(0), extents[i], kind, loops[i]});
  }
  Expr point = axes[0], output = axes[1], place = axes[2], channel = axes[3], tap = axes[4];
  Indices of_weight(4), own{point, output, place};
  of_weight[filter_.output_axis] = output, of_weight[filter_.channel_axis] = channel;
  of_weight[filter_.tap_axis] = point, of_weight[filter_.column_axis] = tap;
  block.init = build_.store(sums_, own, number(0));
  block.body = build_.store(
      sums_, own,
      build_.load(sums_, own) + build_.load(weight_, of_weight) * build_.load(data_, {point, channel, place + tap}));
  Stmt s = build_.block(std::move(block));
  for (size_t i = extents.size(); i-- > 0;) s = build_.loop(loops[i], context_.index(0), extents[i], s);
  return s;
}

Stmt MinimalNests::rows_of_result(const ReductionGroup& group, const std::vector<Expr>& sums, Expr output, Expr tile,
                                  Expr column, size_t row) const {
  // Points stand in pairs of opposites between 0 and infinity.
  std::vector<std::pair<double, Expr>> terms{{by_.result[row][0], sums[0]}};
  for (size_t p = 1; p + 1 < sums.size(); p += 2) {
    double first = by_.result[row][p], second = by_.result[row][p + 1];
    if (first != 0) terms.push_back({first, first == second ? sums[p] + sums[p + 1] : sums[p] - sums[p + 1]});
  }
  terms.push_back({by_.result[row].back(), sums.back()});
  Expr at_row = (block_ * tiles_ + tile) * by_.results + static_cast<int64_t>(row);
  Stmt s = element_of(context_, group, filter_.result, {filter_.batch, output, at_row, column}, sum_of(terms));
  return is_ragged() ? build_.branch(arith::lt(at_row, context_.index(filter_.rows)), s) : s;
}

Stmt MinimalNests::result_nest(const ReductionGroup& group, uint32_t& columns) const {
  Var column = context_.var("column");
  auto body = [&](Var output, Var tile) {
    std::vector<BufferRef> locals;
    std::vector<Stmt> parts;
    std::vector<Expr> sums;
    for (int64_t p = 0; p < by_.points(); ++p) {
      locals.push_back(build_.buffer("sum", DType::f(32), {}, tir::Scope::kLocal));
      sums.push_back(build_.load(locals.back(), {}));
      Expr from = build_.load(sums_, {context_.index(p), output, tile * pitch_ + column});
      parts.push_back(build_.store(locals.back(), {}, from));
    }
    for (size_t row = 0; row < static_cast<size_t>(by_.results); ++row)
      parts.push_back(rows_of_result(group, sums, output, tile, column, row));
    return in_locals(context_, locals, parts);
  };
  Stmt nest = build_.loop("output", context_.index(filter_.outputs), [&](Var output) {
    return build_.loop("tile", context_.index(tiles_), [&](Var tile) {
      return build_.loop(column, context_.index(0), context_.index(filter_.columns), body(output, tile));
    });
  });
  columns = loop_of(nest, column);
  return nest;
}

Stmt MinimalNests::in_blocks(Stmt body) const {
  body = build_.alloc(data_, build_.alloc(sums_, body));
  body = build_.loop(block_, context_.index(0), context_.index(blocks()), body);
  return build_.loop(filter_.batch, context_.index(0), filter_.batches, body);
}

FilterNests Schedule::minimal_filter(uint32_t block_id, int64_t results, int64_t tiles, bool fma) {
  const std::optional<ReductionGroup> group = group_in(*this);
  bool begins = group && analysis::as_nest(group->reduction).block->id == block_id;
  std::optional<RowFilter> filter;
  if (begins && may_allocate_) filter = row_filter_of(*this, *group);
  require(filter.has_value(), [&] {
    return fmt::format(
        "block '{}' is no convolution by constant filters of three rows that begins what is in focus, or "
        "the kernel has no scratch memory",
        block_name(block_id));
  });
  require_marked(block_id);
  require(results == 2 || results == 4, "minimal filtering gives 2 or 4 results at once");
  require(tiles > 0 && tiles <= (filter->rows + results - 1) / results,
          [&] { return fmt::format("{} tiles are more than there are", tiles); });
  note(fmt::format("minimal_filter {} {} {} {}", block_name(block_id), results, tiles, fma ? "fma" : "-"));
  const MinimalFilter by = schedule::minimal_filter(results);
  const MinimalNests nests(context_, *filter, by, tiles, fma);
  FilterNests made;
  Stmt data = nests.data_nest(made.data_columns), sums = nests.sum_nest();
  Stmt result = nests.result_nest(*group, made.result_columns);
  made.sums = analysis::as_nest(sums).block->id;
  root_ = nests.in_blocks(build_.seq({data, sums, result}));
  std::erase_if(operands_, [&](const Operand& one) { return one.buffer == filter->weight; });
  Operand at_points{nests.weight_at_points(), filter->weight, {}};
  at_points.made.filter_axis = static_cast<int64_t>(filter->tap_axis), at_points.made.filter_results = results;
  operands_.push_back(at_points);
  return made;
}

}  // namespace relaxc::schedule
