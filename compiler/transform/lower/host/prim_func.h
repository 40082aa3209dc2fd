// prim_func.h: the finished host prim func, and what callers know of it.
//
// Free functions over the parts of a host function; they own nothing.
#pragma once

#include <string>

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

/// Returns a prim func with the parameters: inputs, outputs, arena, weights, out_dims, heap if needed, entry symbols.
tir::PrimFunc host_prim_func(HostLowering& host, const std::string& name, tir::Stmt body);

/// Adds the host function of this body to the module and to the callees, and its entry to the object if it is public.
/// The body gets views of its constants, and outputs of data-dependent dims get the shape of their bounds.
void publish(HostLowering& host, tir::Stmt body);

/// For a function that calls itself, before any function of its cycle is lowered: adds the prim func that callers call,
/// and what they know of it. Its parameters and outputs must be known.
void announce(HostLowering& host);

}  // namespace relaxc::lower
