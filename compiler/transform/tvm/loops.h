// loops.h: writes the loops of a module as functions that call themselves, which is the form that TVM has.
#pragma once

#include "compiler/relax/builder.h"

namespace relaxc {

/// Replaces every loop by a call of a private function of the module, which calls itself for the next iteration.
Status loops_to_functions(relax::Module& module, const relax::OpTable& ops, Diagnostics& diag);

}  // namespace relaxc
