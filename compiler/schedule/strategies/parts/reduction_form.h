// reduction_form.h: the state of a reduction between the stages of its strategies, from naive loops to tiles.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/primitives/packed_words.h"
#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

struct Draft;

/// Loops of a reduction that matter to its tile after its window was copied.
struct Sliding {
  uint32_t vector = 0;   ///< the loop along a row; 0 if nothing was copied, or scalars are read from the copy
  uint32_t scalars = 0;  ///< the loop along a row if scalars of the copy are read, and another loop is in lanes; else 0
  uint32_t rows = 0;     ///< the loop over rows that several taps read, if every operand changes along it; else 0
  uint32_t taps = 0;     ///< the reduction loop over these taps
  uint32_t phases = 0;   ///< the loop over taps along a row, if consecutive taps read different phases of it; else 0
};

/// Loops and blocks are ids.
struct ReductionForm {
  ReductionGroup group;  ///< as it was matched
  uint32_t block = 0;
  std::vector<uint32_t> spatial = {},
                        reduced = {};  ///< loops, outermost first; spatial ones are outside of reduction loops
  int64_t lanes = 1;
  bool room = false;                      ///< scratch memory and packing are allowed
  std::vector<BufferRef> constants = {};  ///< parameters that may be packed

  // What Stage::kOperands decided.
  Sliding sliding = {};
  BufferRef words = nullptr;  ///< the packed buffer that dot products read in place of words_of
  WordsOf words_of = {};

  // What Stage::kLanes decided.
  uint32_t vector = 0;    ///< the vectorized loop
  uint32_t unrolled = 0;  ///< the loop whose iterations share vectors; 0 if there is none
  uint32_t image = 0;     ///< the loop over all pixels of a small image; 0 if there is none
};

/// The reduction in focus, as naive loops; or why strategies cannot tile it.
Legal<ReductionForm> reduction_in(const Draft& draft);
/// Replaces axes by loops, moves the initialization and the consumers next to the reduction, and removes loops of one
/// iteration.
Legal<> reorder_axes(Draft& draft);
/// Replaces the result and non-escaping buffers of the group by scalars of an iteration.
Legal<> scalar_replace_results(Draft& draft);

}  // namespace relaxc::schedule
