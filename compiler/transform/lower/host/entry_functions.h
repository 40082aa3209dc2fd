// entry_functions.h: prim funcs that an entry runs before its host prim func.
//
// Free functions over the parts of a host function; they own nothing.
#pragma once

#include <string>
#include <vector>

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

/// Adds the function that checks guards on entry symbols and stores all dims of inputs and outputs; returns its name.
std::string add_shapes(HostLowering& host);
/// Adds the function that stores the arena's bytes, 0 until plan_memory replaces its body; returns its name.
std::string add_arena(HostLowering& host);
/// Adds the function that reads the entry symbols that are no dims: elements of inputs, and results of shape functions
/// of earlier symbols; returns its name.
std::string add_values(HostLowering& host);

/// Adds to `steps` a call of the shape function that computes `value` from the numbers `asked`; returns the buffer of
/// its result, which is allocated in `scope`.
BufferRef call_shape_function(HostLowering& host, const ValueSymbol& value, const std::vector<Expr>& asked,
                              tir::Scope scope, Steps& steps);

}  // namespace relaxc::lower
