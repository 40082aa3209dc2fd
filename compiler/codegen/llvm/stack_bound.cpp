// stack_bound.cpp: frames over the graph of calls.
//
// LLVM warns of frames that are larger than a function's attribute "warn-stack-size" says; with 0 it tells all of them.
// To each come the return address and what aligning the frame may waste. Calls that selection makes up (memcpy, a
// helper for wide integers) are leaves, for which one allowance is enough.
#include "compiler/codegen/llvm/stack_bound.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Instructions.h>

#include <vector>

#include "compiler/support/check.h"

namespace relaxc::codegen_llvm {
namespace {

constexpr uint64_t kCall = 16 + 64;     // return address, saved frame pointer, alignment to a vector
constexpr uint64_t kRuntime = 1536;     // the deepest chain in runtime-lite, compiled without optimization
constexpr uint64_t kLibraryCall = 512;  // memcpy and kin

/// Functions that `function` may call: named or with their address taken, in instructions or in constants.
std::vector<const llvm::Function*> callees(const llvm::Function& function) {
  std::vector<const llvm::Function*> found;
  std::vector<const llvm::Value*> waiting;
  for (const llvm::BasicBlock& block : function)
    for (const llvm::Instruction& instruction : block)
      waiting.insert(waiting.end(), instruction.op_begin(), instruction.op_end());
  while (!waiting.empty()) {
    const llvm::Value* value = waiting.back();
    waiting.pop_back();
    if (const auto* callee = llvm::dyn_cast<llvm::Function>(value))
      found.push_back(callee);
    else if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(value))
      waiting.insert(waiting.end(), expression->op_begin(), expression->op_end());
  }
  return found;
}

std::optional<uint64_t> outside(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  if (function.isIntrinsic() || name == "memcpy" || name == "memmove" || name == "memset" || name == "getauxval")
    return kLibraryCall;
  if (name.starts_with("rlx_") && name != "rlx_print") return kRuntime;  // who prints, prints by a C library
  return std::nullopt;
}

}  // namespace

class StackFrames::Handler : public llvm::DiagnosticHandler {
 public:
  explicit Handler(StackFrames& frames) : frames_(frames) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    const auto* size = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(&info);
    if (size == nullptr) return false;
    frames_.frames_[&size->getFunction()] = size->getStackSize();
    return true;
  }

 private:
  StackFrames& frames_;
};

StackFrames::StackFrames(llvm::Module& module) : module_(module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) function.addFnAttr("warn-stack-size", "0");
  module.getContext().setDiagnosticHandler(std::make_unique<Handler>(*this));
}

StackFrames::~StackFrames() {
  module_.getContext().setDiagnosticHandler(nullptr);
}

std::optional<uint64_t> StackFrames::bound(const llvm::Function& asked) {
  std::optional<uint64_t> deepest = chain(asked);
  return deepest ? std::optional(*deepest + kLibraryCall) : std::nullopt;
}

std::optional<uint64_t> StackFrames::chain(const llvm::Function& asked) {
  // Depth first with a list of what is open: a function that is met while it is open calls itself.
  struct Open {
    const llvm::Function* function;
    std::vector<const llvm::Function*> callees;
    size_t next = 0;
    std::optional<uint64_t> deepest = 0;
  };
  std::vector<Open> open;
  std::map<const llvm::Function*, bool> inside;
  auto enter = [&](const llvm::Function& function) {
    inside[&function] = true;
    open.push_back({&function, callees(function)});
  };
  auto known = [&](const llvm::Function& function) {
    return function.isDeclaration() || bounds_.count(&function) != 0 || inside[&function];
  };
  auto value = [&](const llvm::Function& function) -> std::optional<uint64_t> {
    if (auto known = elsewhere_.find(function.getName()); known != elsewhere_.end()) return known->second;
    if (function.isDeclaration()) return outside(function);
    auto found = bounds_.find(&function);
    return found == bounds_.end() ? std::nullopt : found->second;
  };
  if (!known(asked)) enter(asked);
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next < top.callees.size()) {
      const llvm::Function& callee = *top.callees[top.next];
      if (!known(callee)) {
        enter(callee);
        continue;
      }
      std::optional<uint64_t> below = value(callee);
      top.deepest = below && top.deepest ? std::optional(std::max(*below, *top.deepest)) : std::nullopt;
      ++top.next;
      continue;
    }
    uint64_t frame = kCall + (frames_.count(top.function) != 0 ? frames_.at(top.function) : 0);
    if (top.deepest) top.deepest = *top.deepest + frame;
    bounds_[top.function] = top.deepest;
    inside[top.function] = false;
    open.pop_back();
  }
  return value(asked);
}

}  // namespace relaxc::codegen_llvm
