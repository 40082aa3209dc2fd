// scratch_entry.h: prim funcs that C calls and that need scratch.
#pragma once

#include "compiler/interface/object.h"
#include "compiler/relax/module.h"

namespace relaxc::lower {

/// What the object says of a prim func that C calls. Where hoist_scratch gave it scratch parameters, the module gets a
/// function that takes them from an arena, and one that says how large it is.
interface::PublicPrimFunc public_prim_func(relax::Module& module, const tir::PrimFunc& function);

}  // namespace relaxc::lower
