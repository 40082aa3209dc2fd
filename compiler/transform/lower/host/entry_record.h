// entry_record.h: the object's description of a public function.
//
// A free function over the parts of a host function; it owns nothing.
#pragma once

#include <string>

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

/// Adds the entry whose host prim func is `call` to the object, with the functions that it runs before the call.
/// Reports an attribute `quantized` that fits no input or output.
void add_entry(HostLowering& host, const std::string& call);

}  // namespace relaxc::lower
