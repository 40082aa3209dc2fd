// evaluator.h: running prim funcs on this machine: a little by interpretation, much as compiled code.
#pragma once

#include <memory>

#include "compiler/tir/evaluator.h"

namespace relaxc {

/// An Evaluator that compiles what would take the interpreter longer than compiling it. Both give the same bits, so
/// what is folded does not depend on which of them ran.
std::unique_ptr<tir::Evaluator> make_evaluator(tir::FindFunction find = {}, tir::CallExternal external = {});

}  // namespace relaxc
