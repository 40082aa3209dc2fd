// reduction_form.h: a reduction on its way from naive loops to tiles, as the stages of its strategies find it.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/primitives/packed_words.h"
#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

struct Draft;

/// What is left to be done with a reduction whose window was copied.
struct Sliding {
  uint32_t vector = 0;  ///< the loop along a row; 0: nothing was copied, or scalars are read of the copy
  uint32_t rows = 0;    ///< the loop over rows that several taps read, if no operand stays along it
  uint32_t taps = 0;    ///< the loop of the reduction that goes over these taps
  uint32_t phases = 0;  ///< the loop over taps along a row, if each reads another phase of it than the one before
};

/// Loops and blocks by their ids.
struct ReductionForm {
  ReductionGroup group;  ///< as it was found
  uint32_t block = 0;
  std::vector<uint32_t> spatial = {},
                        reduced = {};  ///< loops, outermost first; spatial ones are outside of reduction loops
  int64_t lanes = 1;
  bool room = false;                      ///< there may be scratch memory, and constants may be packed
  std::vector<BufferRef> constants = {};  ///< parameters that may be packed

  // What Stage::kOperands decided.
  Sliding sliding = {};
  BufferRef words = nullptr;  ///< what dot products read in place of words_of
  WordsOf words_of = {};

  // What Stage::kLanes decided.
  uint32_t vector = 0;    ///< the axis in lanes
  uint32_t unrolled = 0;  ///< the axis whose iterations share vectors; 0: none
  uint32_t image = 0;     ///< the axis of all pixels of a small image; 0: there is none
};

/// What is in focus, as naive loops; or why it is not a reduction that tiles are made of.
Legal<ReductionForm> reduction_in(const Draft& draft);
/// Axes are loops, the neutral element and consumers are beside the reduction, and there is no loop of one iteration.
Legal<> reorder_axes(Draft& draft);
/// The result and what only the group sees become scalars of an iteration.
Legal<> scalar_replace_results(Draft& draft);

}  // namespace relaxc::schedule
