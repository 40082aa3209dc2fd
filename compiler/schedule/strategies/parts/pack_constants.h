// pack_constants.h: constants of a reduction in panels as wide as its tile, one behind the other as it reads them.
#pragma once

#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Packs all constants that can be packed along the loop; `packed` gets what they have become.
Legal<> pack_along(Draft& draft, uint32_t loop, int64_t panel, std::vector<BufferRef>& packed);
/// The same without panels: an element of the loop after the other, each with what is summed side by side.
Legal<> pack_in_order(Draft& draft, uint32_t loop, std::vector<BufferRef>& packed);

/// The steps that pack_along would take, for a tree whose loops are cut before they are taken.
std::vector<Pack> packings_along(const Draft& draft, uint32_t loop, int64_t panel);

}  // namespace relaxc::schedule
