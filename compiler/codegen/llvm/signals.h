// signals.h: what happens to files when a signal ends the program.
#pragma once

#include <string>

namespace relaxc::codegen_llvm {

/// Removes the file `path` if SIGINT, SIGTERM or a crash ends the program; LLVM's handlers, which then let the signal
/// do what it would have done.
void remove_on_signal(const std::string& path);

}  // namespace relaxc::codegen_llvm
