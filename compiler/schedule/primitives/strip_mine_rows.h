// strip_mine_rows.h: the step `strip_mine_rows`.
#pragma once

#include <memory>

#include "compiler/schedule/primitives/step.h"
#include "targets/target.h"

namespace relaxc::schedule {

class RowCutting;

/// The nests that compute rows from the same rows of what lies between become one loop over blocks of `rows` rows
/// around all of them. Gives the loops over blocks: those of a whole number of rows, and the rest.
struct StripMineRows {
  static constexpr StepInfo kInfo{.name = "strip_mine_rows",
                                  .arguments = "ROWS",
                                  .doc =
                                      "The loops over rows of all nests are strip-mined together: the nests run for "
                                      "ROWS rows at a time, with memory for those alone."};
  int64_t rows = 1;
  static auto fields(auto& self) { return std::tie(self.rows); }

  using Made = std::vector<uint32_t>;
  using Facts = std::shared_ptr<RowCutting>;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// How many rows of the result a block of the whole kernel should have; 0: no rows in between are needed whole, or the
/// nests are not of rows.
///
/// \param most  elements of each row that are kept at a time; 0: whole rows
int64_t rows_of_block(const Tree& tree, const Target& target, int64_t most = 0);

}  // namespace relaxc::schedule
