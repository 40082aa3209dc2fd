// print.h: prints TIR in the current syntax of the text IR.
#pragma once

#include <string>

#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// Returns the `@T.prim_func` text of a function, each line indented by `indent` spaces. Names are made unique (`x`,
/// `x_1`); parsing the text gives an equal function.
std::string to_string(const PrimFunc& function, int indent = 0);
std::string to_string(Stmt s, int indent = 0);

}  // namespace relaxc::tir
