// pool_rows.h: the step `pool_rows`.
#pragma once

#include <memory>
#include <optional>

#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// What pool_rows made: the loops along a row of windows, and along one of the result.
struct PooledRows {
  uint32_t places = 0, columns = 0;
};

class PoolNests;

/// The pool in focus and its consumers, in blocks of `rows` rows of the result: the rows of its windows are reduced
/// to one, and then windows along it. Rows of more than `columns` results (0: none has) are cut into parts of as many,
/// so that the size of what is kept is known where that of the image is not. Changes the order of the reduction.
struct PoolRows {
  static constexpr StepInfo kInfo{
      .name = "pool_rows",
      .arguments = "BLOCK ROWS COLUMNS",
      .doc =
          "Computes a pool in blocks of ROWS rows: reduces the rows of its windows to one, then "
          "the windows along that row. If COLUMNS is not 0, rows may have more, and are cut into parts of as many. "
          "Needs reassociate.",
      .changes_bits = true};
  BlockId block;
  int64_t rows = 1;
  int64_t columns = 0;
  static auto fields(auto& self) { return std::tie(self.block, self.rows, self.columns); }

  using Made = PooledRows;
  using Facts = std::shared_ptr<PoolNests>;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// How large a pool is: the rows and columns that its result has at most (INT64_MAX: any number), and what windows
/// cover of a row.
struct PoolShape {
  int64_t rows = 0, columns = 0;
  bool has_open_columns = false;
  int64_t bytes_of_window = 0, bytes_of_step = 0;  ///< of the first window, and of each further one

  int64_t bytes_of_row(int64_t of_columns) const { return bytes_of_window + (of_columns - 1) * bytes_of_step; }
};
/// Nothing: the group is not a pool.
std::optional<PoolShape> pool_shape_of(const Tree& tree, const ReductionGroup& group);

}  // namespace relaxc::schedule
