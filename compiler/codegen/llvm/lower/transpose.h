// transpose.h: a square of vectors, transposed in registers.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <vector>

namespace relaxc::codegen_llvm {

/// `rows`: as many vectors as each has elements, a power of two. Element k of vector i becomes element i of vector k.
std::vector<llvm::Value*> transposed(llvm::IRBuilder<>& builder, std::vector<llvm::Value*> rows);

}  // namespace relaxc::codegen_llvm
