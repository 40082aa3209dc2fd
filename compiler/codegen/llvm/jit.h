// jit.h: an Evaluator that compiles TIR and runs it inside of relaxc.
#pragma once

#include <memory>

#include "compiler/tir/evaluator.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// Returns an Evaluator that compiles each prim func, with its callees, on first use and keeps the code. It computes
/// the same bits as the interpreter, except NaN payloads. `target` must be this machine.
std::unique_ptr<tir::Evaluator> make_jit(const Target& target, tir::FindFunction find = {},
                                         tir::CallExternal external = {});

}  // namespace relaxc::codegen_llvm
