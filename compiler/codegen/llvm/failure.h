// failure.h: ends the program where LLVM would abort.
#pragma once

namespace relaxc::codegen_llvm {

/// Installs LLVM's error handlers. Out of memory ends the program by terminate_now(), as a failed operator new does; a
/// fatal error prints LLVM's message and exits with 70, or with 1 if it was caused by lack of memory.
void end_on_failure();

}  // namespace relaxc::codegen_llvm
