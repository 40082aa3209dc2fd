// parts.h: compiles functions of an object as modules of their own, on several threads.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compiler/codegen/llvm/emit.h"
#include "compiler/codegen/llvm/lower.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/llvm/stack_bound.h"

namespace relaxc::codegen_llvm {

/// Whether a module has as much code as one thread should compile at once.
bool is_full(const llvm::Module& module);

/// A function that the object's first module only declares. It calls no other function.
struct PartFunction {
  const tir::PrimFunc* function = nullptr;
  std::string symbol;
  const LoweringOptions* options = nullptr;
};

/// The result of compiling a part.
struct CompiledPart {
  llvm::SmallVector<char, 0> object;                      ///< ELF
  std::vector<std::pair<std::string, StackDepth>> stack;  ///< StackFrames::chain of each function
};

class Parts {
 public:
  /// `stop`: asked whether to leave out parts that are not started; null: never. `tell`: EmitOptions::tell.
  Parts(std::string name, std::vector<PartFunction> functions, const Target& target, OptLevel level,
        std::function<bool()> stop, TellParts tell)
      : name_(std::move(name)),
        functions_(std::move(functions)),
        target_(target),
        level_(level),
        stop_(std::move(stop)),
        tell_(std::move(tell)) {}
  ~Parts();
  Parts(const Parts&) = delete;

  /// Starts to compile on `threads` threads.
  void start(int32_t threads);
  /// Compiles parts on this thread as well until all are done, and returns them. They are in the order of their
  /// functions and do not depend on the number of threads.
  const std::deque<CompiledPart>& finish();

 private:
  struct Part;
  void work();
  std::unique_ptr<Part> next();
  std::unique_ptr<Part> lower_next();
  void compile(Part& part) const;

  std::string name_;
  std::vector<PartFunction> functions_;
  const Target& target_;
  OptLevel level_;
  std::function<bool()> stop_;
  TellParts tell_;
  std::mutex turn_;     ///< guards the members below
  size_t lowered_ = 0;  ///< number of functions that are lowered
  std::deque<CompiledPart> compiled_;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;  ///< last member, so that it is destroyed first
};

}  // namespace relaxc::codegen_llvm
