// machine_frames.h: the stack that each function takes, read off its machine code before that is printed.
#pragma once

#include <llvm/IR/LegacyPassManager.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace relaxc::codegen_llvm {

/// A function that aligns its frame takes more or less by where the caller's stack pointer is, so there is a figure
/// for each place: the stack pointer in front of a call is `i * alignment` modulo kLargestAlignment, of which the
/// calling convention gives `alignment` and LLVM's largest vector decides the other.
constexpr uint64_t kLargestAlignment = 64, kLeastAlignment = 8;
constexpr size_t kPlaces = kLargestAlignment / kLeastAlignment;

/// A function from one place of the caller's stack pointer. Depths are bytes below that pointer.
struct FrameAtPlace {
  struct Call {
    std::string callee;  ///< empty: a function whose address is in a register
    uint64_t depth = 0;  ///< of the stack pointer in front of the call
  };
  bool known = true;     ///< not: the stack pointer is moved in a way that is not understood
  uint64_t deepest = 0;  ///< of what the function itself uses
  std::vector<Call> calls;
};

struct MachineFrame {
  std::array<FrameAtPlace, kPlaces> places;
};

struct MachineFrames {
  std::map<std::string, MachineFrame, std::less<>> functions;
  uint64_t alignment = 16;  ///< of the stack pointer in front of a call
};

/// Takes passes for `passes` and puts one in front of the printer of machine code that fills `frames`.
class FrameReading : public llvm::legacy::PassManagerBase {
 public:
  FrameReading(llvm::legacy::PassManager& passes, MachineFrames& frames) : passes_(passes), frames_(frames) {}
  void add(llvm::Pass* pass) override;

 private:
  llvm::legacy::PassManager& passes_;
  MachineFrames& frames_;
};

}  // namespace relaxc::codegen_llvm
