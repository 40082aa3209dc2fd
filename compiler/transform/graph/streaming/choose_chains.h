// choose_chains.h: chooses the chains of stages that run a few rows at a time to meet a budget of memory.
#pragma once

#include <vector>

#include "compiler/transform/graph/streaming/row_schedule.h"

namespace relaxc::streaming {

struct ChosenChain {
  Chain chain;
  Pace pace;
};

/// Returns the chains, in order, with which a block takes at most `budget` bytes and the fewest additional cycles; if
/// no choice fits the budget, those with which it takes least. This counts the values that stages make; scratch memory
/// of kernels and gaps between values come on top.
std::vector<ChosenChain> choose_chains(const Stages& stages, int64_t budget);

}  // namespace relaxc::streaming
