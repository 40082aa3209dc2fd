// choose_chains.h: which chains of stages run a few rows at a time, so that a budget holds.
#pragma once

#include <vector>

#include "compiler/transform/graph/streaming/row_schedule.h"

namespace relaxc::streaming {

struct ChosenChain {
  Chain chain;
  Pace pace;
};

/// The chains, in order, by which a block takes at most `budget` bytes and the fewest cycles more than without; the
/// ones by which it takes least if that is more than the budget. What is counted are the values that stages make;
/// scratch memory of kernels and gaps between values come on top.
std::vector<ChosenChain> choose_chains(const Stages& stages, int64_t budget);

}  // namespace relaxc::streaming
