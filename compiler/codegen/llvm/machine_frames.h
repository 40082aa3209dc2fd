// machine_frames.h: the stack use of each function, read from its machine code before that is printed.
#pragma once

#include <llvm/IR/LegacyPassManager.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace relaxc::codegen_llvm {

/// The stack use of a function that aligns its frame depends on the caller's stack pointer. So there is one figure for
/// each place i: the stack pointer before a call is `i * alignment` modulo kLargestAlignment. The calling convention
/// determines `alignment`, LLVM's largest vector kLargestAlignment.
constexpr uint64_t kLargestAlignment = 64, kLeastAlignment = 8;
constexpr size_t kPlaces = kLargestAlignment / kLeastAlignment;

/// The stack use of a function for one place of the caller's stack pointer. Depths are bytes below that pointer.
struct FrameAtPlace {
  struct Call {
    std::string callee;  ///< empty for a call through a register
    uint64_t depth = 0;  ///< of the stack pointer before the call
  };
  bool known = true;     ///< false if an instruction moves the stack pointer in an unknown way
  uint64_t deepest = 0;  ///< largest depth that the function uses itself
  std::vector<Call> calls;
};

struct MachineFrame {
  std::array<FrameAtPlace, kPlaces> places;
};

struct MachineFrames {
  std::map<std::string, MachineFrame, std::less<>> functions;
  uint64_t alignment = 16;  ///< of the stack pointer before a call, in bytes
};

/// Adds passes to `passes`, and a pass that fills `frames` before the one that prints machine code.
class FrameReading : public llvm::legacy::PassManagerBase {
 public:
  FrameReading(llvm::legacy::PassManager& passes, MachineFrames& frames) : passes_(passes), frames_(frames) {}
  void add(llvm::Pass* pass) override;

 private:
  llvm::legacy::PassManager& passes_;
  MachineFrames& frames_;
};

}  // namespace relaxc::codegen_llvm
