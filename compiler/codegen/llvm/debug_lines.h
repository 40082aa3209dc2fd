// debug_lines.h: DWARF line tables, which say from which source a machine instruction comes.
#pragma once

#include <llvm/IR/DIBuilder.h>

#include <map>
#include <string>

#include "compiler/tir/prim_func.h"

namespace relaxc::codegen_llvm {

class DebugLines {
 public:
  explicit DebugLines(llvm::Module& module);

  /// Gives every instruction of `function` the location of `source`: a line of a text program, or the names of its ONNX
  /// nodes, which then also are the function's name.
  void describe(llvm::Function& function, const tir::PrimFunc& source);
  /// Must be called after the last function.
  void finish() { builder_.finalize(); }

 private:
  llvm::DIFile* file(const std::string& path);

  llvm::DIBuilder builder_;
  llvm::DICompileUnit* unit_ = nullptr;
  std::map<std::string, llvm::DIFile*> files_;
};

}  // namespace relaxc::codegen_llvm
