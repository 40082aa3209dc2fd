// stack_bound.h: how much stack a function takes at most, with all that it calls.
#pragma once

#include <llvm/IR/Module.h>

#include <array>
#include <map>
#include <optional>
#include <string>

#include "compiler/codegen/llvm/machine_frames.h"

namespace relaxc::codegen_llvm {

/// An attribute of functions that the program defines, whatever their names.
constexpr const char* kOfProgram = "relaxc-of-program";
/// Gives it to a declaration, unless that is of runtime-lite.
void mark_of_program(llvm::Function& function);

/// Bytes below the caller's stack pointer, for each place of that (see kPlaces); nothing: not known.
using StackDepth = std::array<std::optional<uint64_t>, kPlaces>;

/// The most of all places.
std::optional<uint64_t> deepest(const StackDepth& depth);

/// Frames over the graph of calls of a module, which outlives this.
class StackFrames {
 public:
  StackFrames(const llvm::Module& module, MachineFrames frames) : module_(module), frames_(std::move(frames)) {}

  /// What a call of `function` takes: the deepest chain of calls. Functions whose address it takes count as called
  /// where it calls an address (tasks of parallel loops, run one after the other), those of runtime-lite and of the
  /// compiler's library by figures of their own. Not known where a function calls itself, or one that is the program's.
  StackDepth chain(const llvm::Function& function);
  /// Says the chain of a function that the module only declares.
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
