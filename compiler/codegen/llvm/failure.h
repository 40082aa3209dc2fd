// failure.h: how LLVM's own failures end the program.
#pragma once

namespace relaxc::codegen_llvm {

/// Where LLVM has no memory, the program ends by terminate_now(), as it does where operator new fails; on LLVM's fatal
/// errors it says so and exits with 70, or with 1 if it was for want of memory. Without it LLVM aborts.
void end_on_failure();

}  // namespace relaxc::codegen_llvm
