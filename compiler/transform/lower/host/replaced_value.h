// replaced_value.h: carried values of loops that are overwritten in place.
//
// A free function over the parts of a host function; it owns nothing.
#pragma once

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

/// Whether the kernel that computes the next value of carried value `k` of `loop` may write it to the memory of the
/// last: nothing reads the last value afterwards, and the kernel itself at most element by element. If the kernel does
/// read it, this clears the kernel's `noalias`.
bool replaces_value(HostLowering& host, const relax::Op& loop, size_t k);

}  // namespace relaxc::lower
