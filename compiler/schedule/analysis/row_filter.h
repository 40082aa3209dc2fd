// row_filter.h: recognizes convolutions with step 1 by constant filters of three rows.
#pragma once

#include <optional>

#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/analysis/window.h"

namespace relaxc::schedule {

/// result[batch, output, row, column] = sum over channel, i, j of operand[batch, channel, row + i, column + j] times
/// weight[output, channel, i, j]; the weight's dims may be in any order, and i has 3 taps.
struct RowFilter {
  Window window;                                        ///< in loops of the tree that was passed
  size_t row_dim = 0, column_dim = 0, channel_dim = 0;  ///< in Window::dims
  BufferRef result = nullptr, weight = nullptr;
  Var batch = {};
  Expr batches = {};
  Expr rows = {}, columns = {};  ///< of the result; not constant if the dim is open
  int64_t outputs = 0, channels = 0, column_taps = 0;
  size_t output_axis = 0, channel_axis = 0, tap_axis = 0, column_axis = 0;  ///< of the weight

  /// Whether the height or the width of the result is open.
  bool is_open() const { return rows.constant() == nullptr || columns.constant() == nullptr; }
};
/// The group's reduction as such a convolution, if it is one of float32 with constant extents, except batch, rows and
/// columns, and its weight is a constant that nothing else reads; else nullopt.
std::optional<RowFilter> row_filter_of(const Tree& s, const ReductionGroup& group);

}  // namespace relaxc::schedule
