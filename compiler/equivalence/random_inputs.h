// random_inputs.h: arguments for a Relax function.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/relax/interpret.h"

namespace relaxc::equivalence {

/// The size that a symbol takes. Empty: small ones that differ from symbol to symbol, so that a swapped dim shows; 1 is
/// among them, for broadcasts.
using SizeOf = std::function<int64_t(arith::Var symbol)>;

/// One tensor for each leaf of each parameter. Sizes are brought into the bounds that the function declares; floats are
/// in -2..2 (whole numbers if `whole`), integers in 0..3, since many are used as indices. The same seed gives the same
/// inputs.
std::vector<relax::HostTensor> random_inputs(const relax::Function& function, uint32_t seed, const SizeOf& size_of = {},
                                             bool whole = false);

}  // namespace relaxc::equivalence
