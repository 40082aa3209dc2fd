// operand_panels.h: which panels of a streamed operand are copied before the rows of a tile read them.
#pragma once

#include <cstdint>

#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Panels of the operand of which every tile of rows reads the same vectors.
struct OperandPanels {
  BufferRef operand = nullptr;  ///< null: it is read in place
  int64_t columns = 0;          ///< iterations of the vectorized loop in a panel
};

/// The panels that pay if the vectorized loop is outside of the unrolled one.
OperandPanels operand_panels_of(const Draft& draft);

/// Divides the vectorized loop into panels, puts it inside of the rows, and copies each panel before them.
Legal<> copy_panels(Draft& draft, const OperandPanels& panels);

}  // namespace relaxc::schedule
