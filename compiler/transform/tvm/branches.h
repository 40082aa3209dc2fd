// branches.h: gives the Ifs of a module the form that TVM's have.
#pragma once

#include "compiler/relax/builder.h"

namespace relaxc {

/// Gives every If one result, a tuple of what it had, and takes Ifs out of dataflow blocks. Dims that the branches
/// decide are read from the result by a match_cast.
Status pack_branches(relax::Module& module, const relax::OpTable& ops, Diagnostics& diag);

}  // namespace relaxc
