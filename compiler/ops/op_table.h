// op_table.h: all operators of this folder, as one table.
#pragma once

#include "compiler/relax/op_def.h"

namespace relaxc::ops {

/// Every operator. Made once by the program that runs the compiler (or a test) and handed on by reference; nothing is
/// registered and nothing is global.
relax::OpTable op_table();

}  // namespace relaxc::ops
