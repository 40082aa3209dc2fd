// results.h: the end of a host function, where its outputs are written.
//
// A free function over the parts of a host function; it owns nothing.
#pragma once

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

/// Copies results to outputs that do not hold them yet, and stores data-dependent dims to `out_dims`.
void write_outputs(HostLowering& host);

}  // namespace relaxc::lower
