// row_filter.h: convolutions by constant filters of three rows, one step apart.
#pragma once

#include <optional>

#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/analysis/window.h"

namespace relaxc::schedule {

/// result[batch, output, row, column] = sum over channel, i, j of operand[batch, channel, row + i, column + j] times
/// weight[output, channel, i, j], the dims of the weight in any order, i of 3 taps.
struct RowFilter {
  Window window;                                        ///< in the loops of the tree that was asked
  size_t row_dim = 0, column_dim = 0, channel_dim = 0;  ///< in Window::dims
  BufferRef result = nullptr, weight = nullptr;
  Var batch = {};
  Expr batches = {};
  Expr rows = {}, columns = {};  ///< of the result; either may be open
  int64_t outputs = 0, channels = 0, column_taps = 0;
  size_t output_axis = 0, channel_axis = 0, tap_axis = 0, column_axis = 0;  ///< of the weight

  /// The size of the result's image is not known when compiling.
  bool is_open() const { return rows.constant() == nullptr || columns.constant() == nullptr; }
};
/// What the group's reduction is, if it is one with known extents except batch, rows and columns, of float32, by a
/// constant that nothing else reads.
std::optional<RowFilter> row_filter_of(const Tree& s, const ReductionGroup& group);

}  // namespace relaxc::schedule
