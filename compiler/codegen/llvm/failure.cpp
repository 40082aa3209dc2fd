// failure.cpp: LLVM's error handlers.
#include "compiler/codegen/llvm/failure.h"

#include <llvm/Support/ErrorHandling.h>

#include <cstring>

#include "compiler/support/termination.h"

namespace relaxc::codegen_llvm {
namespace {

constexpr int kInternalError = 70;

void on_bad_alloc(void*, const char*, bool) {
  terminate_now(out_of_memory_message());
}

void on_fatal_error(void*, const char* reason, bool) {
  for (const char* text : {"allocate", "memory", "mmap"})
    if (std::strstr(reason, text) != nullptr) terminate_now(out_of_memory_message());
  terminate_now(reason, kInternalError);
}

}  // namespace

void end_on_failure() {
  llvm::install_bad_alloc_error_handler(on_bad_alloc);
  llvm::install_fatal_error_handler(on_fatal_error);
}

}  // namespace relaxc::codegen_llvm
