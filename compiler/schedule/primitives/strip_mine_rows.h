// strip_mine_rows.h: the step `strip_mine_rows`.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

class RowStripMining;

/// The nests that compute rows from the same rows of what is between become one loop over blocks of `rows` rows
/// around all of them. Gives the loops over blocks: those of a whole number of rows, and the rest.
struct StripMineRows {
  static constexpr StepInfo kInfo{.name = "strip_mine_rows",
                                  .arguments = "ROWS",
                                  .doc =
                                      "The loops over rows of all nests are strip-mined together: the nests run for "
                                      "ROWS rows at a time, with memory only for those."};
  int64_t rows = 1;
  static auto fields(auto& self) { return std::tie(self.rows); }

  using Made = std::vector<uint32_t>;
  using Facts = std::shared_ptr<RowStripMining>;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// A kernel of nests over rows: what the size of blocks depends on.
struct RowNests {
  struct Between {
    std::optional<int64_t> elements;  ///< of a row; nothing: that is not known
    int64_t element_bytes = 0;
  };
  Expr rows;                     ///< of the result, at one place of its outer axes
  std::vector<Between> between;  ///< what a block needs memory for
};

/// Nothing: no rows in between are needed whole, or the nests are not of rows.
std::optional<RowNests> row_nests_of(const Tree& tree);

}  // namespace relaxc::schedule
