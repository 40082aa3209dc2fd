// pack_constants.h: packs constants of a reduction into panels as wide as its tile, in the order of its reads.
#pragma once

#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Packs all constants that can be packed along the loop; adds the buffers that replace them to `packed`.
Legal<> pack_along(Draft& draft, uint32_t loop, int64_t panel, std::vector<BufferRef>& packed);
/// The same without panels: for each iteration of the loop, the terms that it sums are contiguous.
Legal<> pack_in_order(Draft& draft, uint32_t loop, std::vector<BufferRef>& packed);

/// The steps that pack_along would apply; for a caller that tiles the loops before it applies them.
std::vector<Pack> packings_along(const Draft& draft, uint32_t loop, int64_t panel);

}  // namespace relaxc::schedule
