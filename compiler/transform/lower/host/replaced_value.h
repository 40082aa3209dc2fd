// replaced_value.h: carried values that are written over in place.
//
// A free function over the parts of a host function; it owns nothing.
#pragma once

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

/// Whether the kernel that makes the next value of what `loop` carries as number `k` may write it over the last one:
/// that is not read later, nor by the kernel itself but element by element. Such a kernel promises no longer that its
/// buffers are apart.
bool replaces_value(HostLowering& host, const relax::Op& loop, size_t k);

}  // namespace relaxc::lower
