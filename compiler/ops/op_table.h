// op_table.h: the table of all operators of this folder.
#pragma once

#include "compiler/relax/op_def.h"

namespace relaxc::ops {

/// Returns all operators. The program that runs the compiler (or a test) makes the table once and passes it by
/// reference; there is no registration and no global.
relax::OpTable op_table();

}  // namespace relaxc::ops
