// jit.h: TIR as compiled code inside relaxc.
#pragma once

#include <memory>

#include "compiler/tir/evaluator.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// An Evaluator that compiles each prim func (with what it calls) on first use and keeps the code. Gives the bits of
/// the interpreter, NaN payloads aside. `target` must be this machine.
std::unique_ptr<tir::Evaluator> make_jit(const Target& target, tir::FindFunction find = {},
                                         tir::CallExternal external = {});

}  // namespace relaxc::codegen_llvm
