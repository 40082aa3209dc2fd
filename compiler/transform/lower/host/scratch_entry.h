// scratch_entry.h: prim funcs that C calls and that need scratch memory.
#pragma once

#include "compiler/interface/object.h"
#include "compiler/relax/module.h"

namespace relaxc::lower {

/// Returns the object's description of a prim func that C calls. If hoist_scratch gave it scratch parameters, adds a
/// function that takes them from an arena, and one that stores the arena's size in bytes.
interface::PublicPrimFunc public_prim_func(relax::Module& module, const tir::PrimFunc& function);

}  // namespace relaxc::lower
