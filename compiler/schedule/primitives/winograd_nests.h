// winograd_nests.h: the nests that a convolution becomes by Winograd's algorithm.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/schedule/analysis/row_filter.h"
#include "compiler/schedule/primitives/winograd.h"
#include "compiler/schedule/winograd_transform.h"

namespace relaxc::schedule {

/// The tiles one below the other that make a block, but the last one.
Expr tiles_of_block(const RowFilter& filter, const FilterTiles& tiles);

/// The nests of a convolution by Winograd tiles; tiles one below the other make a block. A block's data at the points,
/// and its sums, are in scratch memory: [points, channel or output, place], those of a row of tiles beside the next
/// one's, each `pitch` places wide, so that the sums are over contiguous memory. Where only rows are filtered, places
/// are columns, and the last column_taps - 1 of a row are sums of no meaning, which are not read. Where both dims are,
/// places are tiles, points are pairs of them, and a line of data or of results at the points of the rows is between
/// the two steps.
///
/// Where the size of the image is open, blocks end at a width as well, and the pitch is that of the image if it is
/// less: scratch memory is of a known size, and places of small images are close together. A block of a narrower image
/// has more tiles, as many as the memory holds. Transforms along a row then write whole vectors, which reach into the
/// places of the next row before that is written.
class WinogradNests {
 public:
  /// Properties of the machine that the nests are for.
  struct Machine {
    bool fma = false;    ///< sums of data round once a step
    int64_t period = 0;  ///< bytes after which memory falls into the same set of a cache; 0: of no concern
    int64_t lanes = 1;   ///< rows are padded to multiples of as many elements, so that no vector is masked
  };
  WinogradNests(const Tree& tree, const RowFilter& filter, const FilterTiles& tiles, const Machine& machine);

  BufferRef weight_at_points() const { return weight_; }
  std::vector<Packing::Taps> filtered_axes() const;

  /// data[p, c, place] of a block; its loops are added to `made`.
  Stmt data_nest(FilterNests& made) const;
  /// sums[p, o, place] = sum over c, j of weight at points [o, c, p, j] * data[p, c, place + j], or
  /// sums[p, q, o, place] = sum over c of weight at points [o, c, p, q] * data[p, q, c, place]; naive.
  Stmt sum_nest() const;
  /// The rows of the result, and what the group's consumers make of them.
  Stmt result_nest(const ReductionGroup& group, FilterNests& made) const;
  /// All blocks of all batches around these three.
  Stmt in_blocks(Stmt body, FilterNests& made) const;

 private:
  bool is_open() const { return filter_.is_open(); }
  Expr rows_of_block() const { return tiles_of_block_ * by_.results; }
  int64_t in_whole(int64_t elements) const;
  Expr in_whole(Expr elements) const;
  int64_t columns_of_place() const { return along_ ? along_->results : 1; }
  /// Of a row of tiles, in all.
  Expr all_places() const { return ceildiv(filter_.columns, columns_of_place()); }
  /// Tiles and columns of the block at hand.
  Expr tiles_here() const;
  Expr columns_here() const;
  /// That sums are over.
  Expr places_here() const;
  /// A column of the block at hand, in the image.
  Expr in_image(Expr column) const;
  /// Blocks end where the result does.
  bool is_ragged() const;
  /// Columns of data that a row of tiles reads, those that do not exist as 0; at most, and of the block at hand.
  int64_t most_data_columns() const;
  Expr data_columns() const;
  BufferRef scratch(const char* name, std::vector<int64_t> outer, int64_t width) const;
  Expr number(double value) const;
  /// The sum of coefficient * term, in this order, without those that are 0.
  Expr sum_of(const std::vector<std::pair<double, Expr>>& terms) const;
  Expr data_at(const WinogradTransform& by, size_t point, const std::vector<Expr>& data) const;
  Expr result_at(const WinogradTransform& by, size_t result, const std::vector<Expr>& sums) const;
  /// Locals with these values, as `body` reads them.
  Stmt with_loaded(const char* name, const std::vector<Expr>& values,
                   const std::function<std::vector<Stmt>(const std::vector<Expr>&)>& body) const;
  Stmt data_along_columns(Expr channel, Expr tile, Var column, BufferRef lines) const;
  Stmt data_along_rows(Expr channel, Expr tile, Expr point, Expr across, BufferRef lines) const;
  Stmt results_along_rows(Expr output, Expr tile, Expr point, Expr across, BufferRef lines) const;
  /// `body` for each tile of a row, at each point of the columns.
  Stmt at_each_point(Var across, const std::function<Stmt(Expr)>& body) const;
  Stmt results_along_columns(const ReductionGroup& group, Expr output, Expr tile, Expr column, BufferRef lines) const;
  Stmt row_of_result(const ReductionGroup& group, const std::vector<Expr>& sums, Expr output, Expr tile, Expr column,
                     size_t row) const;

  const Tree& tree_;  ///< that the filter is of
  Context& context_;
  mutable tir::Builder build_;
  const RowFilter& filter_;
  const WinogradTransform by_;
  const std::optional<WinogradTransform> along_;  ///< what is done along rows
  const int64_t tiles_;                           ///< of a block of the widest rows
  const int64_t most_tiles_;                      ///< of a block of narrow rows
  const int64_t width_;                           ///< of a block, in places; 0: rows are not cut
  const int64_t most_pitch_;                      ///< what the pitch is at most
  const Expr pitch_;
  const Expr tiles_of_block_;  ///< but the last one
  const Machine machine_;
  Var block_, column_block_;
  BufferRef weight_ = nullptr, data_ = nullptr, sums_ = nullptr;
};

}  // namespace relaxc::schedule
