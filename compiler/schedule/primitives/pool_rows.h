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
/// to one, and then windows along it. Changes the order of the reduction.
struct PoolRows {
  static constexpr StepInfo kInfo{
      .name = "pool_rows",
      .arguments = "BLOCK ROWS",
      .doc =
          "Computes a pool in blocks of ROWS rows: reduces the rows of its windows to one, then "
          "the windows along that row. Needs reassociate.",
      .changes_bits = true};
  BlockId block;
  int64_t rows = 1;
  static auto fields(auto& self) { return std::tie(self.block, self.rows); }

  using Made = PooledRows;
  using Facts = std::shared_ptr<PoolNests>;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// How large a pool is: rows and columns of the result, and what a row of windows covers.
struct PoolShape {
  int64_t rows = 0, columns = 0, bytes_of_row = 0;
};
/// Nothing: the group is not a pool.
std::optional<PoolShape> pool_shape_of(const Tree& tree, const ReductionGroup& group);

}  // namespace relaxc::schedule
