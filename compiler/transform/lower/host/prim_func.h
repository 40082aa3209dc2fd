// prim_func.h: the finished prim func, and what callers know of it.
//
// Free functions over the parts of a host function; they own nothing.
#pragma once

#include <string>

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

/// What all host functions take: inputs, outputs, arena, weights, out_dims, perhaps the heap, entry symbols.
tir::PrimFunc host_prim_func(HostLowering& host, const std::string& name, tir::Stmt body);

/// Adds the host function of this body to the module and to the callees, and its entry to the object if it is public.
/// The body gets its constants, and outputs whose dims were not yet known get the shape of their bound.
void publish(HostLowering& host, tir::Stmt body);

/// For a function that calls itself, before any in its cycle is lowered: adds the prim func that is called, and tells
/// the callers of it. The parameters and outputs are known.
void announce(HostLowering& host);

}  // namespace relaxc::lower
