// stack_bound.h: how much stack a function takes at most, with all that it calls.
#pragma once

#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <string>

namespace relaxc::codegen_llvm {

/// What the code generator says of frames. Made before it runs on the module, asked after.
class StackFrames {
 public:
  explicit StackFrames(llvm::Module& module);
  ~StackFrames();
  StackFrames(const StackFrames&) = delete;

  /// An upper bound in bytes for a call of `function`: its frame and those of the deepest chain of calls below it.
  /// Functions whose address it takes count as called (tasks of parallel loops, run one after the other), functions of
  /// runtime-lite by a bound of their own. Nothing where a function calls itself, or one that is the program's.
  std::optional<uint64_t> bound(const llvm::Function& function);
  /// The same without what calls that selection makes up take, of which there is one at the end of a chain.
  std::optional<uint64_t> chain(const llvm::Function& function);
  /// Says the chain of a function that the module only declares.
  void know(const std::string& name, std::optional<uint64_t> chain) { elsewhere_[name] = chain; }

 private:
  class Handler;
  llvm::Module& module_;
  std::map<const llvm::Function*, uint64_t> frames_;                 // looked up, never walked
  std::map<const llvm::Function*, std::optional<uint64_t>> bounds_;  // of functions that were asked
  std::map<std::string, std::optional<uint64_t>, std::less<>> elsewhere_;
};

}  // namespace relaxc::codegen_llvm
