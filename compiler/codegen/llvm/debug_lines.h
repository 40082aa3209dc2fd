// debug_lines.h: which source a piece of machine code comes from, as DWARF line tables.
#pragma once

#include <llvm/IR/DIBuilder.h>

#include <map>
#include <string>

#include "compiler/tir/prim_func.h"

namespace relaxc::codegen_llvm {

class DebugLines {
 public:
  explicit DebugLines(llvm::Module& module);

  /// Says of every instruction of `function` that it comes from what `source` computes: a line of a text program, or
  /// the ONNX nodes, whose names take the place of the function's.
  void describe(llvm::Function& function, const tir::PrimFunc& source);
  /// After the last function.
  void finish() { builder_.finalize(); }

 private:
  llvm::DIFile* file(const std::string& path);

  llvm::DIBuilder builder_;
  llvm::DICompileUnit* unit_ = nullptr;
  std::map<std::string, llvm::DIFile*> files_;
};

}  // namespace relaxc::codegen_llvm
