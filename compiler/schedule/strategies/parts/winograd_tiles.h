// winograd_tiles.h: the tiles by which Winograd's algorithm is to compute a convolution, by a model of cycles.
#pragma once

#include <optional>

#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/primitives/winograd.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

struct WinogradChoice {
  uint32_t block = 0;  ///< the convolution's
  FilterTiles tiles;
  double cycles = 0;  ///< of one image; 0: its size is open
};

/// Refused: the group, which is in the draft's tree, is not a convolution by filters of three rows, one step apart, or
/// the direct form takes no longer, or the draft's options or its target rule Winograd's algorithm out.
Legal<WinogradChoice> choose_winograd(const Draft& draft, const std::optional<ReductionGroup>& group);

}  // namespace relaxc::schedule
