// name_choices.h: values that several ways of choices share get names.
#pragma once

#include "compiler/tir/prim_func.h"

namespace relaxc {

/// Stores in `s` whose values would be computed in very many copies, as every way of a choice that reads memory
/// computes what it needs by itself, get locals for what ways share; all other stores stay as they are. Changes no bit.
tir::Stmt name_choices(arith::Context& context, tir::Stmt s);

}  // namespace relaxc
