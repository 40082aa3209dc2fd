// states.h: states, each an input and an output in the same memory.
//
// Free functions over a signature; they own nothing.
#pragma once

#include "compiler/support/diagnostics.h"
#include "compiler/transform/lower/host/signature.h"

namespace relaxc::lower {

/// Pairs inputs and outputs as the function's attribute `state` says. Reports names that do not exist or are paired
/// twice, and pairs that differ in more than an axis along which the output continues the input.
Status pair_states(const relax::Function& function, Signature& signature, Diagnostics& diag);

/// Whether the memory of `output` may be written while `producer` runs: false if `producer` or a later op may read the
/// state in it. A state that grows is safe: its new rows go behind the old ones.
bool may_write_early(const relax::Function& function, const Signature& signature, const Output& output,
                     const relax::Op& producer);

}  // namespace relaxc::lower
