// stack_bound.h: upper bounds of the stack that a function uses, with all functions that it calls.
#pragma once

#include <llvm/IR/Module.h>

#include <array>
#include <map>
#include <optional>
#include <string>

#include "compiler/codegen/llvm/machine_frames.h"

namespace relaxc::codegen_llvm {

/// An attribute of functions that the linking program defines.
constexpr const char* kOfProgram = "relaxc-of-program";
/// Sets it on a declaration, unless the function is of runtime-lite.
void mark_of_program(llvm::Function& function);

/// Bytes below the caller's stack pointer, for each place of that pointer (see kPlaces); nullopt if not known.
using StackDepth = std::array<std::optional<uint64_t>, kPlaces>;

/// Returns the maximum over all places; nullopt if one is not known.
std::optional<uint64_t> deepest(const StackDepth& depth);

/// Computes stack use over the call graph of a module, which must outlive this.
class StackFrames {
 public:
  StackFrames(const llvm::Module& module, MachineFrames frames) : module_(module), frames_(std::move(frames)) {}

  /// Returns the stack of the deepest chain of calls from `function`. A call through a pointer may reach every function
  /// whose address the caller takes (tasks of parallel loops, one after the other); library functions have figures of
  /// their own (library_stack.h). nullopt if a function is recursive or of the program.
  StackDepth chain(const llvm::Function& function);
  /// Sets the stack use of a function that the module only declares.
  void know(const std::string& name, const StackDepth& chain) { known_[name] = chain; }

 private:
  StackDepth of(const std::string& name) const;
  StackDepth through_calls(const llvm::Function& function, const std::vector<std::string>& addressed) const;
  std::optional<uint64_t> from_place(const FrameAtPlace& frame, size_t place,
                                     const std::vector<std::string>& addressed) const;
  std::optional<uint64_t> below(const StackDepth& callee, size_t place, uint64_t depth) const;

  const llvm::Module& module_;
  MachineFrames frames_;
  std::map<std::string, StackDepth, std::less<>> known_;
};

}  // namespace relaxc::codegen_llvm
