// externals.h: the C functions that the linking program must define.
#pragma once

#include "compiler/interface/object.h"
#include "compiler/relax/module.h"
#include "compiler/support/diagnostics.h"

namespace relaxc::lower {

/// Lists the external functions of all prim funcs in `object`, in order of their first call. Reports a function that is
/// called with two different prototypes, or whose name C or the runtime reserves.
Status list_externals(relax::Module& module, interface::Object& object, Diagnostics& diag);

}  // namespace relaxc::lower
