// winograd.h: the step `winograd`.
#pragma once

#include <memory>

#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// The tiles of a result that Winograd's algorithm computes: F(rows, 3) of each column and F(columns, 3) of
/// each row.
struct FilterTiles {
  int64_t rows = 0;
  int64_t columns = 1;  ///< 1: taps along a row stay terms of the sums
  int64_t count = 0;    ///< tiles one below the other that make a block
  int64_t width = 0;    ///< the most places (columns, or tiles of a row) of a block where extents are open; 0: all

  bool in_both_dims() const { return columns > 1; }
};

/// What the step made: the loops along columns of data and of results, those along the tiles of a row, the block of the
/// sums, and the loop over blocks of rows.
struct FilterNests {
  std::vector<uint32_t> columns, across;
  uint32_t sums = 0, blocks = 0;
};

struct RowFilter;

/// The convolution in focus and its consumers by Winograd's algorithm, as three nests: data at points, a sum of
/// products there, results of the sums; `fma`: sums of data round once a step. Changes the order of sums and their
/// rounding (winograd_transform.h has the bound). The constant of the sums must be packed.
struct Winograd {
  static constexpr StepInfo kInfo{
      .name = "winograd",
      .arguments = "BLOCK ROWS COLUMNS TILES WIDTH fma|- PERIOD LANES",
      .doc =
          "A convolution by filters of three rows by Winograd's F(ROWS, 3), and F(COLUMNS, "
          "3) along rows unless COLUMNS is 1, in blocks of TILES vertically adjacent tiles. Where the size of the "
          "image is open, WIDTH is the most columns of a block (tiles, if COLUMNS is not 1), and a block of a narrower "
          "image has more tiles, as many as its memory holds; else it is 0. Needs reassociate; fma: sums of data round "
          "once a step. Strides of scratch memory are not multiples of PERIOD bytes, which map to the same cache set; "
          "0 "
          "allows that. Rows of scratch memory that vectors of LANES write are whole vectors.",
      .changes_bits = true};
  BlockId block;
  int64_t rows = 2;
  int64_t columns = 1;
  int64_t tiles = 1;
  int64_t width = 0;
  bool fma = false;
  int64_t period = 0;
  int64_t lanes = 1;
  static auto fields(auto& self) {
    return std::tie(self.block, self.rows, self.columns, self.tiles, self.width, self.fma, self.period, self.lanes);
  }

  using Made = FilterNests;
  struct Facts {
    std::shared_ptr<const RowFilter> filter;
    ReductionGroup group;
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
