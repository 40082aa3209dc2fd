// transpose.h: transposes a square of vectors in registers.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <vector>

namespace relaxc::codegen_llvm {

/// Returns the transpose of n `rows` of n elements, n a power of two: element k of row i becomes element i of row k.
std::vector<llvm::Value*> transposed(llvm::IRBuilder<>& builder, std::vector<llvm::Value*> rows);

}  // namespace relaxc::codegen_llvm
