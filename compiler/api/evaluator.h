// evaluator.h: runs prim funcs on this machine, interpreted or compiled depending on their work.
#pragma once

#include <memory>

#include "compiler/tir/evaluator.h"

namespace relaxc {

/// Makes an Evaluator that compiles a prim func if interpreting it would take longer than compiling it. Both compute
/// the same bits, so results of folding do not depend on the choice.
std::unique_ptr<tir::Evaluator> make_evaluator(tir::FindFunction find = {}, tir::CallExternal external = {});

}  // namespace relaxc
