// random_inputs.h: arguments for a Relax function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/relax/interpret.h"

namespace relaxc::test {

/// Sizes that differ from symbol to symbol, so that a swapped dim shows; 1 is among them, for broadcasts.
constexpr int64_t kSmallSizes[] = {1, 2, 3, 5, 6};

/// One tensor for each leaf of each parameter. A symbol takes one of `sizes`, brought into the bounds that the function
/// declares; floats are in -2..2, integers in 0..3, since many are used as indices. The same seed gives the same
/// inputs.
std::vector<relax::HostTensor> random_inputs(const relax::Function& function, uint32_t seed,
                                             std::span<const int64_t> sizes = kSmallSizes);

}  // namespace relaxc::test
