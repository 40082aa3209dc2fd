// states.h: inputs and outputs that are one memory, called a state.
//
// Free functions over a signature; they own nothing.
#pragma once

#include "compiler/support/diagnostics.h"
#include "compiler/transform/lower/host/signature.h"

namespace relaxc::lower {

/// Pairs inputs and outputs as the attribute `state` of the function says. Reports pairs that name nothing, are
/// twice, or differ in more than an axis along which the output continues the input.
Status pair_states(const relax::Function& function, Signature& signature, Diagnostics& diag);

/// Whether the memory of an output may be written while `producer` runs: always, unless it may be the memory of a state
/// that is still read. What a state grows by is behind all that was in it.
bool may_write_early(const relax::Function& function, const Signature& signature, const Output& output,
                     const relax::Op& producer);

}  // namespace relaxc::lower
