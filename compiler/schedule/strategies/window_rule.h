// window_rule.h: when filters slide over a copy of their image.
#pragma once

#include "compiler/schedule/tree/tree.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// What is left to be done with a reduction whose window was copied.
struct Sliding {
  uint32_t vector = 0;  ///< the loop along a row; 0: nothing was copied, or scalars are read of the copy
  uint32_t rows = 0;    ///< the loop over rows of which each is read by several taps, if no operand stays along it
  uint32_t taps = 0;    ///< the loop of the reduction that goes over these taps
  uint32_t phases = 0;  ///< the loop over taps along a row, if each reads another phase of it than the one before
};

/// Copies the window of the reduction in `block` if that is less work than to read the image itself. The loops of
/// `spatial` that stand outside of the copy leave it.
///
/// \param packs  the filter may be packed, so that output channels can be lanes
Legal<Sliding> slide_over_copy(Tree& s, uint32_t block, std::vector<uint32_t>& spatial,
                               const std::vector<uint32_t>& reduced, const Target& target, int64_t lanes, bool packs);

}  // namespace relaxc::schedule
