// signals.cpp: LLVM keeps the list of files and the handlers that may touch it.
#include "compiler/codegen/llvm/signals.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Signals.h>

namespace relaxc::codegen_llvm {

void remove_on_signal(const std::string& path) {
  llvm::sys::RemoveFileOnSignal(path);
}

}  // namespace relaxc::codegen_llvm
