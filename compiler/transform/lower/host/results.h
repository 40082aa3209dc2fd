// results.h: the end of a host function: its outputs are written.
//
// A free function over the parts of a host function; it owns nothing.
#pragma once

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

/// Copies what is not yet where the caller wants it, and leaves the dims that data decided.
void write_outputs(HostLowering& host);

}  // namespace relaxc::lower
