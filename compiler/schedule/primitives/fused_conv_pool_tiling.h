// fused_conv_pool_tiling.h: the step `fused_conv_pool_tiling`.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

class MapWindows;

/// A reduction of windows of a map that the kernel computes itself becomes a loop over blocks of `rows` rows of the
/// result, which begin with the rows of the map that they need. Gives the loop, or two if the number of rows is open:
/// the second is over the rows that are left.
struct FusedConvPoolTiling {
  static constexpr StepInfo kInfo{
      .name = "fused_conv_pool_tiling",
      .arguments = "ROWS",
      .doc =
          "Runs a pool after a convolution ROWS rows at a time, each time after the rows of the feature "
          "map that its windows cover, with memory only for those."};
  int64_t rows = 1;
  static auto fields(auto& self) { return std::tie(self.rows); }

  using Made = std::vector<uint32_t>;
  using Facts = std::shared_ptr<MapWindows>;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// A map that a kernel computes and reduces windows of: what the size of blocks depends on.
struct WindowedMap {
  std::optional<int64_t> rows;       ///< of the result; here and below, nothing: open
  std::optional<int64_t> map_rows;   ///< of the map
  std::optional<int64_t> row_bytes;  ///< of a row of the map, in all channels of one of the batch
  int64_t step = 0, span = 0;        ///< a row of the result reads `span` rows, `step` further on than the one before
  double terms = 0;                  ///< of what is summed for an element of the map, at most

  /// Rows of the map that `count` rows of the result read.
  int64_t rows_read(int64_t count) const { return std::min((count - 1) * step + span, map_rows.value_or(INT64_MAX)); }
};

/// Nothing: the kernel does not reduce windows of a map that it computes itself.
std::optional<WindowedMap> windowed_map_of(const Tree& tree);

}  // namespace relaxc::schedule
