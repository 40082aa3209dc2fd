// filter.h: a convolution by small filters, as the rule for minimal filtering sees it, and the nests it becomes.
#pragma once

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/rules.h"
#include "compiler/schedule/window.h"
#include "compiler/schedule/winograd.h"

namespace relaxc::schedule {

/// result[batch, output, row, column] = sum over channel, i, j of operand[batch, channel, row + i, column + j] times
/// weight[output, channel, i, j], the dims of the weight in any order, i of 3 taps.
struct RowFilter {
  Schedule nest;  ///< of the reduction, whose loops the window names
  Window window;
  size_t row_dim = 0, column_dim = 0, channel_dim = 0;  ///< in Window::dims
  BufferRef result = nullptr, weight = nullptr;
  Var batch = {};
  Expr batches = {};
  int64_t outputs = 0, channels = 0, rows = 0, columns = 0, column_taps = 0;
  size_t output_axis = 0, channel_axis = 0, tap_axis = 0, column_axis = 0;  ///< of the weight
};
/// What the group's reduction is, if it is one with known extents but for the batch, of float32, by a constant that
/// nothing else reads.
std::optional<RowFilter> row_filter_of(const Schedule& s, const ReductionGroup& group);

/// A filter by tiles of `by.results` rows, of which `tiles` one below the other make a block. A block's data at the
/// points, and its sums, lie in scratch memory: [points, channel or output, place], rows of a tile beside the next
/// one's, each `pitch` places wide, so that the sums are over contiguous memory. The last column_taps - 1 places of a
/// row are sums of no meaning that nobody reads.
class MinimalNests {
 public:
  MinimalNests(Context& context, const RowFilter& filter, const MinimalFilter& by, int64_t tiles, bool fma);

  int64_t blocks() const { return (filter_.rows + rows_of_block() - 1) / rows_of_block(); }
  BufferRef weight_at_points() const { return weight_; }

  /// data[p, c, place] of a block; `columns` becomes its innermost loop.
  Stmt data_nest(uint32_t& columns) const;
  /// sums[p, o, place] = sum over c, j of weight at points [o, c, p, j] * data[p, c, place + j]; naive.
  Stmt sum_nest() const;
  /// The rows of the result, and what the group's consumers make of them.
  Stmt result_nest(const ReductionGroup& group, uint32_t& columns) const;
  /// All blocks of all batches around these three.
  Stmt in_blocks(Stmt body) const;

 private:
  int64_t rows_of_block() const { return tiles_ * by_.results; }
  int64_t places() const { return (tiles_ - 1) * pitch_ + filter_.columns; }
  /// Blocks end where the result does.
  bool is_ragged() const { return filter_.rows % rows_of_block() != 0; }
  Expr number(double value) const;
  /// The sum of coefficient * term, in this order, without those that are 0.
  Expr sum_of(const std::vector<std::pair<double, Expr>>& terms) const;
  Stmt rows_of_result(const ReductionGroup& group, const std::vector<Expr>& sums, Expr output, Expr tile, Expr column,
                      size_t row) const;

  Context& context_;
  mutable tir::Builder build_;
  const RowFilter& filter_;
  const MinimalFilter& by_;
  const int64_t tiles_, pitch_;
  const bool fma_;
  Var block_;
  BufferRef weight_ = nullptr, data_ = nullptr, sums_ = nullptr;
};

}  // namespace relaxc::schedule
