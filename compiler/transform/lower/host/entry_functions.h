// entry_functions.h: prim funcs that an entry runs before the call.
//
// Free functions over the parts of a host function; they own nothing.
#pragma once

#include <string>
#include <vector>

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

/// Adds the function that checks the guards on the symbols and gives all dims of inputs and outputs; returns its name.
std::string add_shapes(HostLowering& host);
/// Adds the function that gives the bytes of the arena: of none, until plan_memory fills it in.
std::string add_arena(HostLowering& host);
/// Adds the function that reads the symbols that no dim gives: elements of inputs, and what shape functions make of
/// earlier symbols.
std::string add_values(HostLowering& host);

/// Adds a call of the shape function that gives `value`, with the numbers `asked`, to `steps`; its answer is in
/// memory of `scope`.
BufferRef call_shape_function(HostLowering& host, const ValueSymbol& value, const std::vector<Expr>& asked,
                              tir::Scope scope, Steps& steps);

}  // namespace relaxc::lower
